package lambada

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// lastWord evaluates a language model on the last words of passages, given all words before:
//
//	accuracy   = share of passages whose last word is the most probable next word
//	perplexity = exp(mean of -ln p(last word | the words before it)), section 3.3's
//
// over all passages, and over those whose last word is in the vocabulary ("covered"). Other last words cannot be predicted correctly, and
// count as <unknown> in the perplexity. "all tokens" is the perplexity of every token. A last word of
// several tokens, a contraction or a word in subwords, is correct if all of them are, and its probability is their product.
type lastWord struct{ coding }

// Measure scores every passage.
func (m lastWord) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	scored, err := model.Score(ctx, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	unknown, _ := m.Target.Unknown()
	result, words := task.Measurement{Method: task.TeacherForcing}, lastWords{}
	for i, s := range scored {
		start := len(s.LogProbs) - lastTokens(examples[i])
		right := words.add(s, examples[i].Target[start:], unknown)
		tokens := slices.Concat(examples[i].Target[:start], s.Best[start:])
		result.Answers = append(result.Answers, task.Answer{Tokens: tokens, Text: m.spelled(s.Best[start:]), Correct: right})
	}
	result.Metrics, result.Notes = words.metrics(), words.notes()
	return result, nil
}

// spelled returns the text of the tokens of a last word.
func (c coding) spelled(ids []vocab.ID) string {
	if c.Subwords != nil {
		return strings.TrimSpace(c.Subwords.Text(ids))
	}
	var words []string
	for _, id := range ids {
		words = append(words, c.Target.Token(id))
	}
	return strings.Join(words, " ")
}

// lastTokens returns the number of tokens of the last word of an example.
func lastTokens(e task.Example) int {
	if p, ok := e.Origin.(passage); ok {
		return cmp.Or(p.pieces, p.last)
	}
	return 1
}

// lastWords counts correct predictions and sums log-probabilities.
type lastWords struct {
	last, covered, tokens score.Perplexity
	all, ofCovered        score.Accuracy
	undecided             int // passages whose most probable word is <unknown>
}

// add counts a passage, given the tokens of its last word, and reports whether all of them were predicted.
func (w *lastWords) add(s task.Scored, truth []vocab.ID, unknown vocab.ID) (right bool) {
	for _, p := range s.LogProbs {
		w.tokens = w.tokens.Plus(score.Perplexity{Nats: -p, Tokens: 1})
	}
	start := len(s.LogProbs) - len(truth)
	word := score.Perplexity{Tokens: 1}
	for _, p := range s.LogProbs[start:] {
		word.Nats -= p
	}
	known, best := !slices.Contains(truth, unknown), s.Best[start:]
	right = known && slices.Equal(best, truth)
	w.last, w.all = w.last.Plus(word), w.all.Plus(score.Of(right))
	if known {
		w.covered, w.ofCovered = w.covered.Plus(word), w.ofCovered.Plus(score.Of(right))
	}
	if slices.Contains(best, unknown) {
		w.undecided++
	}
	return right
}

func (w *lastWords) metrics() []score.Metric {
	return []score.Metric{
		score.Share("last word accuracy", w.all), score.Share("accuracy of covered", w.ofCovered),
		score.Share("covered", score.Accuracy{Correct: w.ofCovered.Total, Total: w.all.Total}),
		score.Figure("last word perplexity", w.last.Value()), score.Figure("perplexity of covered", w.covered.Value()),
		score.Figure("all tokens perplexity", w.tokens.Value()),
	}
}

func (w *lastWords) notes() (notes []string) {
	if n := w.all.Total - w.ofCovered.Total; n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d last words are unknown: they count as errors, and as <unknown> in perplexity", n, w.all.Total))
	}
	if w.undecided > 0 {
		notes = append(notes, fmt.Sprintf("for %d passages the most probable last word is <unknown>, which is never correct", w.undecided))
	}
	return notes
}

// Answers evaluates reading comprehension: the accuracy over all passages; the ceiling, which is the fraction of passages with the answer
// in the context; and three baselines without a model: the most frequent content word of the context (the last of equally frequent ones),
// its last content word, and the expected accuracy of a random one.
type Answers struct{ coding }

// Measure classifies every passage.
func (m Answers) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	unknown, _ := m.Target.Unknown()
	result, err := task.ClassAccuracy{Unknown: unknown}.Measure(ctx, model, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	var b baselines
	outside := 0
	for i, e := range examples {
		there := b.add(m.content(e.Source), m.context(e.Source), e.Target[0], unknown)
		answer := &result.Answers[i]
		answer.Text = m.spell(e, answer.Tokens[0])
		if !there[answer.Tokens[0]] {
			outside++
		}
	}
	result.Metrics = append(result.Metrics, b.metrics()...)
	if outside > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of the model's %d answers do not occur in their contexts", outside, len(examples)))
	}
	if n := b.ceiling.Total - b.ceiling.Correct; n > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d correct answers do not occur in their contexts: they always count as errors", n, b.ceiling.Total))
	}
	return result, nil
}

// spell returns the word that was read as the class or, if there is none, the class's own spelling; "" for an unknown passage.
func (m Answers) spell(e task.Example, class vocab.ID) string {
	p, ok := e.Origin.(passage)
	if !ok {
		return ""
	}
	read := slices.Concat(p.context(), []string{task.Question}, p.sentence(), []string{blankToken})
	if at := slices.Index(e.Source, class); at >= 0 {
		return read[at]
	}
	return m.Target.Token(class)
}

// content returns the content words of a context. Markers are included: they stand for rare words.
func (m Answers) content(source []vocab.ID) (words []vocab.ID) {
	for _, id := range m.context(source) {
		if token := m.Source.Token(id); isMarker(token) || isContent(token) {
			words = append(words, id)
		}
	}
	return words
}

// baselines counts the correct answers of the baselines.
type baselines struct {
	ceiling, frequent, last score.Accuracy
	random                  float64
}

// add counts a passage, and returns the set of words of its context.
func (b *baselines) add(content, context []vocab.ID, truth, unknown vocab.ID) map[vocab.ID]bool {
	there, counts := map[vocab.ID]bool{}, map[vocab.ID]int{}
	for _, id := range context {
		there[id] = true
	}
	frequent, last := unknown, unknown
	for _, id := range content {
		if counts[id]++; counts[id] >= counts[frequent] {
			frequent = id
		}
		last = id
	}
	known := truth != unknown
	b.ceiling = b.ceiling.Plus(score.Of(known && there[truth]))
	b.frequent = b.frequent.Plus(score.Of(known && frequent == truth))
	b.last = b.last.Plus(score.Of(known && last == truth))
	if known && counts[truth] > 0 {
		b.random += 1 / float64(len(counts))
	}
	return there
}

func (b *baselines) metrics() []score.Metric {
	return []score.Metric{
		score.Share("ceiling", b.ceiling), score.Share("most frequent content word", b.frequent), score.Share("last content word", b.last),
		score.Figure("random content word", b.random/float64(max(b.ceiling.Total, 1))),
	}
}
