package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Span is a sequence of words with a type, as tags mark it.
type Span struct {
	Type  string // "_" if the tags have none
	Start int    // index of the first word
	End   int    // index after the last word
}

// SpanTags reports whether tags mark spans: each is "O" or begins with B, I, E, S, L or U, alone or before a hyphen and a type, and there
// are tags other than "O".
func SpanTags(tags []string) bool {
	spans := false
	for _, tag := range tags {
		if tag == outside {
			continue
		}
		prefix, _, _ := strings.Cut(tag, "-")
		if len(prefix) != 1 || !strings.Contains("BIESLU", prefix) {
			return false
		}
		spans = true
	}
	return spans
}

const outside = "O"

// split returns the prefix of a tag and its type. L and U of the scheme BILOU are E and S of IOBES.
func split(tag string) (prefix, kind string) {
	prefix, kind, _ = strings.Cut(tag, "-")
	switch {
	case prefix == "L":
		prefix = "E"
	case prefix == "U":
		prefix = "S"
	}
	if kind == "" {
		kind = "_"
	}
	return prefix, kind
}

// Spans returns the spans that the tags of one sentence mark, by the rules of the CoNLL-2000 evaluation, which are seqeval's default: a
// span begins with B, with S, where the type changes, and with I or E after O, E or S; it ends with E, with S, and before O, before B,
// before S and where the type changes. So every sequence of tags is valid, such as an I without a B before it.
func Spans(tags []string) (spans []Span) {
	before, kindBefore := outside, ""
	for i, tag := range tags {
		prefix, kind := split(tag)
		inside := prefix != outside && before != outside && kind == kindBefore && prefix != "B" && prefix != "S" && before != "E" && before != "S"
		switch {
		case prefix == outside:
		case inside:
			spans[len(spans)-1].End = i + 1
		default:
			spans = append(spans, Span{kind, i, i + 1})
		}
		before, kindBefore = prefix, kind
	}
	return spans
}

// SpanCounts counts spans by type. A span is correct if it has the words and the type of a true span.
type SpanCounts struct {
	Correct, Predicted, True map[string]int
}

// NewSpanCounts returns counts of nothing.
func NewSpanCounts() *SpanCounts {
	return &SpanCounts{map[string]int{}, map[string]int{}, map[string]int{}}
}

// Add counts the spans of one sentence.
func (c *SpanCounts) Add(truth, predicted []string) {
	of := map[Span]bool{}
	for _, s := range Spans(truth) {
		of[s] = true
		c.True[s.Type]++
	}
	for _, s := range Spans(predicted) {
		c.Predicted[s.Type]++
		if of[s] {
			c.Correct[s.Type]++
		}
	}
}

// Scores returns the scores of every type, sorted by name. A quotient without a denominator is 0, as in seqeval.
func (c *SpanCounts) Scores() []ClassScore {
	types := maps.Clone(c.True)
	maps.Copy(types, c.Predicted)
	list := make([]ClassScore, 0, len(types))
	for _, name := range slices.Sorted(maps.Keys(types)) {
		list = append(list, classScore(name, c.Correct[name], c.Predicted[name], c.True[name]))
	}
	return list
}

// Total returns the scores of all spans together: the micro average.
func (c *SpanCounts) Total() ClassScore {
	return classScore("", sum(c.Correct), sum(c.Predicted), sum(c.True))
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Metrics returns F1, precision and recall of all spans together.
func (c *SpanCounts) Metrics() []Metric {
	total, correct := c.Total(), sum(c.Correct)
	return []Metric{
		Figure("span F1", total.F1),
		{Name: "span precision", Value: total.Precision, Accuracy: Accuracy{correct, total.Predicted}},
		{Name: "span recall", Value: total.Recall, Accuracy: Accuracy{correct, total.Support}},
	}
}

// ScoreLines formats scores of classes as a table. The head of the first column is name, that of the last one examples.
func ScoreLines(scores []ClassScore, name, examples string) []string {
	width := utf8.RuneCountInString(name)
	for _, s := range scores {
		width = max(width, min(utf8.RuneCountInString(s.Class), maxName))
	}
	return scoreLines(scores, width, name, examples)
}

func scoreLines(scores []ClassScore, width int, name, examples string) []string {
	lines := []string{pad(name, width) + "  precision  recall      F1  " + fmt.Sprintf("%8s", examples)}
	for _, s := range scores[:min(len(scores), maxScores)] {
		lines = append(lines, fmt.Sprintf("%s  %9.4f  %6.4f  %6.4f  %8d", pad(s.Class, width), s.Precision, s.Recall, s.F1, s.Support))
	}
	if more := len(scores) - maxScores; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
