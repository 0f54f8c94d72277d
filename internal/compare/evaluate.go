package compare

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/gomlx/compute"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// evaluate loads the run's model and evaluates it. The notes say which checkpoints could not be used.
func (r *Run) evaluate(ctx context.Context, backend compute.Backend, o Options) (notes []string, err error) {
	m, err := pipeline.Load(r.Info.Run, backend)
	if err != nil {
		r.Unloaded = true
		return nil, err
	}
	defer m.Close()
	return m.Notes, r.evaluateModel(ctx, m, o)
}

// evaluateModel evaluates the run's model.
func (r *Run) evaluateModel(ctx context.Context, m *pipeline.Model, o Options) error {
	p := o.Protocol
	if o.WholeSet && m.MeasuresWholeSet() {
		p.Selection.Count = 0
	}
	e, err := m.Evaluate(ctx, p)
	if err != nil {
		return err
	}
	v := m.Vocabularies
	for i, example := range e.Examples {
		source, target := v.Original(example)
		r.sources, r.targets = append(r.sources, printable(source)), append(r.targets, printable(target))
		if e.Answers != nil {
			text := e.Answers[i].Text
			if text == "" {
				text = v.TargetText(e.Answers[i].Tokens)
			}
			r.answers = append(r.answers, printable(text))
		}
	}
	switch by := m.Run.Task.Value.Measure(v).(type) {
	case task.DecodedBLEU:
		r.measure = bleuOf(by.Config)
	case task.Perplexity:
		scored, err := m.Evaluator().Score(ctx, e.Examples)
		if err != nil {
			return err
		}
		tokens := task.NewDigest()
		for i, s := range scored {
			r.losses = append(r.losses, lossOf(s))
			tokens.Number(len(s.LogProbs))
			tokens.Texts(v.Target.Decode(e.Examples[i].Target)...)
		}
		r.measure = perplexity
		r.measure.unit = tokens.String()
	default:
		if e.Answers == nil {
			return errors.New("the task's measure gives no answers to compare")
		}
		r.measure = correctness(e.Metrics[len(e.Metrics)-1].Name)
		for _, metric := range e.Metrics {
			if metric.Accuracy.Total == len(e.Examples) && metric.Name != "token accuracy" {
				r.measure = correctness(metric.Name)
				break
			}
		}
	}
	r.Evaluation = &e
	return nil
}

// printable returns a text on one line, without control characters, which terminals would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, task.OneLine(text))
}

// same reports whether two runs have answered the same examples by the same measure.
func same(a, b Run) bool {
	return a.Evaluation != nil && b.Evaluation != nil && a.measure.name == b.measure.name && a.Evaluation.Method == b.Evaluation.Method &&
		slices.Equal(a.sources, b.sources) && slices.Equal(a.targets, b.targets)
}

// An Example is one that several runs have answered.
type Example struct {
	Source, Target string
	Answers        []Answer // one per run
}

// An Answer is that of one run; Given is false for a run that has not answered the example.
type Answer struct {
	Text           string
	Correct, Given bool
}

// examples returns at most n examples: first those that some runs answer correctly and others do not, then those with different answers, then
// others. The runs are those that answered the examples of the first one.
func (c *Comparison) examples(n int) (list []Example) {
	first := slices.IndexFunc(c.Runs, func(r Run) bool { return len(r.answers) > 0 })
	if first < 0 {
		return nil
	}
	answered := make([]bool, len(c.Runs)) // the examples of the first
	for k, r := range c.Runs {
		answered[k] = k == first || len(r.answers) > 0 && same(c.Runs[first], r)
	}
	var kinds [3][]Example
	for i := range c.Runs[first].sources {
		e := Example{Source: c.Runs[first].sources[i], Target: c.Runs[first].targets[i]}
		texts, right := map[string]bool{}, map[bool]bool{}
		for k, r := range c.Runs {
			a := Answer{}
			if answered[k] {
				a = Answer{r.answers[i], r.Evaluation.Answers[i].Correct, true}
				texts[a.Text], right[a.Correct] = true, true
			}
			e.Answers = append(e.Answers, a)
		}
		kind := 2
		if len(right) > 1 {
			kind = 0
		} else if len(texts) > 1 {
			kind = 1
		}
		if len(kinds[kind]) < n {
			kinds[kind] = append(kinds[kind], e)
		}
	}
	all := slices.Concat(kinds[:]...)
	return all[:min(n, len(all))]
}
