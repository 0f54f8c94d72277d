package agreement

import (
	"context"
	"fmt"
	"slices"

	"universal-transformer/internal/score"
	"universal-transformer/task"
)

// A Measure reports the accuracy of the predicted number of verbs by attractors: "3 attractors". Each accuracy comes with reference
// values. "3 balanced" is the mean of the accuracies on singular and on plural verbs. "3 always plural" is the accuracy of that
// answer. "3 last word" is the accuracy of the number of the word before the verb, which is plural if it has a plural tag or ends in
// a single s. If verb forms are ranked, "3 more frequent" is the accuracy of the form that is more frequent in training; if they are ranked
// with a lexicon, "3 number alone" is that of the number without the lexicon. "total"
// covers all rows; "homogeneous" covers those with known attractors, if these are fewer. A tie between the two forms counts as wrong.
//
// Verbs and attractors come from the origin of an example; examples without an origin are not counted.
type Measure struct {
	coding
	Notes []string
}

// WholeSet marks the measure: a sample has too few rows with many attractors.
func (*Measure) WholeSet() {}

// Measure classifies, or scores every example with both forms of its verb.
func (m *Measure) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	rows := m.rows(examples)
	var result task.Measurement
	var err error
	var number []bool
	switch {
	case m.forms:
		result, number, err = m.rankForms(ctx, model, examples, rows)
	case m.classes:
		result, err = task.ClassAccuracy{}.Measure(ctx, model, examples)
	default:
		result, _, err = m.rank(ctx, model, examples, rows)
	}
	if err != nil {
		return task.Measurement{}, err
	}
	counts, left := tally{}, 0
	for i, r := range rows {
		if r == nil {
			left++
			continue
		}
		counts.add(*r, result.Answers[i].Correct, m.moreFrequent(*r), number != nil && number[i])
	}
	result.Metrics, result.Notes = counts.metrics(m.form), slices.Clone(m.Notes)
	if left > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d examples are not counted: they have no pair of verbs, or a form of their verb is not in the vocabulary", left, len(examples)))
	}
	if n := counts[everything].rows() - counts[homogeneous].rows(); n > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d rows count in the total only: their attractors are unknown, or some nouns in between are not attractors", n, counts[everything].rows()))
	}
	return result, nil
}

// rows returns the rows of examples; nil if a row is unknown, or if a language model does not know both alternatives.
func (m *Measure) rows(examples []task.Example) []*row {
	rows := make([]*row, len(examples))
	for i, e := range examples {
		if r, ok := e.Origin.(row); ok && (m.classes || m.hasBoth(r)) {
			rows[i] = &r
		}
	}
	return rows
}

// hasBoth reports whether the vocabulary contains both alternatives.
func (m *Measure) hasBoth(r row) bool {
	right, wrong := m.alternatives(r)
	_, known := m.v.Target.ID(right)
	_, other := m.v.Target.ID(wrong)
	return known && other
}

// moreFrequent reports whether a row's verb is more frequent in training than its other form: ids are ordered by frequency.
func (m *Measure) moreFrequent(r row) bool {
	if r.lexicon != nil {
		return r.lexicon.words[r.words()[r.verb]] > r.lexicon.words[r.other]
	}
	if !m.whole {
		return false
	}
	verb, _ := m.v.Target.ID(r.words()[r.verb])
	other, _ := m.v.Target.ID(r.other)
	return verb < other
}

// rank scores every example with both alternatives. odds holds the log-probability of the right one minus that of the wrong one.
func (m *Measure) rank(ctx context.Context, model task.Model, examples []task.Example, rows []*row) (result task.Measurement, odds []float64, err error) {
	var both []task.Example
	for i, r := range rows {
		if r == nil {
			continue
		}
		end := r.verb + 1 // the words after the verb do not change its probability
		if m.ranked {
			end = len(examples[i].Target)
		}
		right := slices.Clone(examples[i].Target[:end])
		wrong := slices.Clone(right)
		_, other := m.alternatives(*r)
		wrong[r.verb], _ = m.v.Target.ID(other)
		both = append(both, task.Example{Target: right}, task.Example{Target: wrong})
	}
	scored, err := model.Score(ctx, both)
	if err != nil {
		return result, nil, err
	}
	result, odds = task.Measurement{Method: task.TeacherForcing, Answers: make([]task.Answer, len(examples))}, make([]float64, len(examples))
	at := 0
	for i, r := range rows {
		if r == nil {
			continue // the verb is unknown to the model
		}
		right, wrong := m.logProb(scored[at], r.verb), m.logProb(scored[at+1], r.verb)
		odds[i] = right - wrong
		answer := task.Answer{Tokens: both[at].Target, Correct: right > wrong}
		if !answer.Correct {
			answer.Tokens = both[at+1].Target
		}
		if !m.ranked { // the words before the verb are the question
			answer.Text = m.v.Target.Token(answer.Tokens[r.verb])
		}
		result.Answers[i] = answer
		at += 2
	}
	return result, odds, nil
}

// logProb returns the log-probability to compare: of the verb, or of the whole sentence.
func (m *Measure) logProb(s task.Scored, verb int) (sum float64) {
	if !m.ranked {
		return s.LogProbs[verb]
	}
	for _, p := range s.LogProbs {
		sum += p
	}
	return sum
}

// A tally holds counts by number of attractors, for all rows, and for those with known attractors.
type tally map[int]*count

const (
	everything  = -1
	homogeneous = -2
)

// A count counts correct answers on singular and on plural verbs, and those of the last word, of the more frequent form, and of the number
// without a lexicon.
type count struct {
	singular, plural, lastWord, frequent, number score.Accuracy
}

func (c *count) rows() int {
	if c == nil {
		return 0
	}
	return c.lastWord.Total
}

// add counts an answer.
func (t tally) add(r row, correct, moreFrequent, number bool) {
	groups := []int{everything}
	if r.attractors != unlabelled {
		groups = append(groups, homogeneous, r.attractors)
	}
	for _, g := range groups {
		if t[g] == nil {
			t[g] = &count{}
		}
		of := &t[g].singular
		if r.plural {
			of = &t[g].plural
		}
		*of = of.Plus(score.Of(correct))
		t[g].lastWord = t[g].lastWord.Plus(score.Of(r.lastWord() == r.plural))
		t[g].frequent = t[g].frequent.Plus(score.Of(moreFrequent))
		t[g].number = t[g].number.Plus(score.Of(number))
	}
}

// metrics returns four metrics of every group that has rows, five if forms are ranked, six with a lexicon.
func (t tally) metrics(f form) (list []score.Metric) {
	for k := 0; k <= maxAttractors; k++ {
		name := fmt.Sprint(k)
		list = append(list, t[k].metrics(name+" attractors", name, f)...)
	}
	if n := t[homogeneous].rows(); n < t[everything].rows() {
		list = append(list, t[homogeneous].metrics("homogeneous", "homogeneous", f)...)
	}
	all := t[everything]
	if all == nil {
		all = &count{}
	}
	return append(list, all.metrics("total", "total", f)...)
}

// metrics returns the accuracy itself and its reference values.
func (c *count) metrics(name, short string, f form) []score.Metric {
	if c == nil {
		return nil
	}
	all := c.singular.Plus(c.plural)
	list := []score.Metric{
		score.Share(name, all),
		score.Figure(short+" balanced", (c.singular.Value()+c.plural.Value())/2),
		score.Share(short+" always plural", score.Accuracy{Correct: c.plural.Total, Total: all.Total}),
		score.Share(short+" last word", c.lastWord),
	}
	if f.whole || f.forms {
		list = append(list, score.Share(short+" more frequent", c.frequent))
	}
	if f.forms {
		list = append(list, score.Share(short+" number alone", c.number))
	}
	return list
}
