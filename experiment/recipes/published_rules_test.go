package recipes_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/halting"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
	"universal-transformer/task/babi"
	"universal-transformer/task/lambada"
)

// A judge checks published results against what their recipes give. It builds each model and draws each test set once.
type judge struct {
	t       *testing.T
	tables  map[string]paper.Table // by recipe
	counts  map[string]parameters  // by model
	lengths map[string]int         // tokens of generated sets, by task and set
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	j := &judge{t: t, tables: map[string]paper.Table{}, counts: map[string]parameters{}, lengths: map[string]int{}}
	for _, table := range paper.All() {
		cells, err := table.Cells(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			of := table
			of.Sets = table.MeasuredSets(c.Row.Block)
			j.tables[c.Recipe()] = of
		}
	}
	return j
}

// judge returns the errors of results, in their order.
func (j *judge) judge(results []sweep.Result) (found []error) {
	facts := facts{}
	for _, r := range results {
		found = append(found, j.result(r, facts)...)
	}
	return found
}

// result returns the errors of one result, and adds its facts.
func (j *judge) result(r sweep.Result, facts facts) []error {
	recipe, err := recipes.Named(r.Recipe)
	if err != nil {
		return []error{fmt.Errorf("%s is no recipe: %w", r.Recipe, err)}
	}
	was, err := experiment.Decode(r.Config)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", r.Name(), err)}
	}
	m := measure.New(j.tables[r.Recipe])
	if err := r.Decode(m); err != nil {
		return []error{err}
	}
	now := expected(r, recipe, was)
	list := []error{configured(now, was), described(r, now), ended(r, was), j.parameters(r, recipe, was, facts)}
	switch m := m.(type) {
	case *measure.Babi:
		list = append(list, babiSets(r, was, m, facts))
	case *measure.Sequences:
		list = append(list, j.sequenceSets(r, was, m))
	case *measure.Metrics:
		list = append(list, metricSets(r, was, m, facts))
	case *measure.Translation:
		var sets []set
		for _, s := range m.Sets {
			sets = append(sets, set{s.Name, s.Sentences})
		}
		list = append(list, sameSets(sets, dataSets[r.Column()]))
	}
	list = slices.DeleteFunc(list, func(err error) bool { return err == nil })
	for i, err := range list {
		list[i] = fmt.Errorf("%s: %w", r.Name(), err)
	}
	return list
}

// expected returns the run that a recipe gives for a result with the configuration was. The recipe leaves open the seed, a stand-in for task 3 of
// bAbI and the folder of LAMBADA's novels; the weights that training starts from are those of the same seed. Before results had curves, the name of a
// run was its family.
func expected(r sweep.Result, recipe recipes.Recipe, was experiment.Run) experiment.Run {
	now := recipe.Run()
	now.Seed = r.Seed
	if was.Name == recipe.Family() && r.Curve == nil {
		now.Name = was.Name
	}
	if recipe.From != "" {
		now.Training.Pretrained = fmt.Sprintf("%s-seed%d", filepath.Base(recipe.From), r.Seed)
	}
	switch of := now.Task.Value.(type) {
	case babi.Babi:
		if d, ok := was.Task.Value.(babi.Babi); ok && (of.Task == 0 || of.Task == 3) {
			of.StandIn = d.StandIn
		}
		now.Task.Value = of
	case lambada.Reading:
		d, ok := was.Task.Value.(lambada.Reading)
		if ok && (d.Prose == "gut" || d.Prose == "gutenberg") && !strings.HasPrefix(r.Column(), "novels") {
			of.Prose = d.Prose // the folder of the same six novels
		}
		now.Task.Value = of
	}
	return now
}

// configured compares the configuration of a result with that of its recipe, to the last field.
func configured(now, was experiment.Run) error {
	if now, was := now.Identity().JSON(), was.Identity().JSON(); !bytes.Equal(now, was) {
		return fmt.Errorf("config: it would be trained with\n%s, was trained with\n%s", now, was)
	}
	return nil
}

// frozen is how version 0.1 described dynamic halting.
var frozen = strings.NewReplacer("adaptive (ACT, halted states copied)", "adaptive (frozen)")

// described compares the descriptions of model and data with those of the recipe.
func described(r sweep.Result, now experiment.Run) error {
	model, data := now.Model.Value.Describe(), now.Task.Value.String()
	if strings.HasPrefix(r.MeasuredBy.Version, "0.1.") {
		model = frozen.Replace(model)
	}
	if r.Model != model || r.Data != data {
		return fmt.Errorf("model is %q and data is %q, want %q and %q", r.Model, r.Data, model, data)
	}
	return nil
}

// ended checks why and after which updates training ended, that the chosen checkpoint is one that was validated, and that there is a validation
// cross entropy: version 0.1 recorded none.
func ended(r sweep.Result, was experiment.Run) error {
	stop, every := was.Training.Stop, was.Training.EvaluateEvery
	may := map[string]bool{"done": true, "patience": stop.Patience > 0, "accuracy": stop.Accuracy > 0, "perfect": stop.Perfect > 0}
	switch {
	case !may[r.Stopped]:
		return fmt.Errorf("stopped is %q, which the configuration excludes: %+v", r.Stopped, stop)
	case r.Step < 1 || r.Step%every != 0 && r.Stopped != "done" || r.BestStep < 1 || r.BestStep%every != 0 && r.BestStep != r.Step:
		return fmt.Errorf("step is %d and best_step %d, validated every %d updates", r.Step, r.BestStep, every)
	case (r.Validation == 0) != strings.HasPrefix(r.MeasuredBy.Version, "0.1."):
		return fmt.Errorf("validation is %v", r.Validation)
	case !(r.Seconds > 0) || r.Threads < 1:
		return fmt.Errorf("seconds is %v and threads %d", r.Seconds, r.Threads)
	}
	return nil
}

// babiSets checks tasks and numbers of questions: 1,000 of each task for the test, and 1,000 or 10,000 for training and validation, if no stand-in
// replaces them.
func babiSets(r sweep.Result, was experiment.Run, m *measure.Babi, facts facts) error {
	d, tasks, questions := was.Task.Value.(babi.Babi), []int{}, 0
	each := 1000
	if strings.HasPrefix(string(d.Set), "en-10k") {
		each = 10_000
	}
	for n := 1; n <= babi.Tasks; n++ {
		if d.Task == n || d.Task == 0 {
			tasks, questions = append(tasks, n), questions+each
		}
	}
	standIn := ""
	if d.StandIn != "" {
		standIn, questions = filepath.Base(d.StandIn), questions-each+m.StandInQuestions
	}
	var have []int
	for _, t := range m.Tests {
		have = append(have, t.Task)
		if t.Questions != 1000 {
			return fmt.Errorf("measured: task %d has %d test questions", t.Task, t.Questions)
		}
		if halts(was) != (t.PonderTimes != nil) {
			return fmt.Errorf("measured: task %d has %d ponder times", t.Task, len(t.PonderTimes))
		}
		for _, p := range t.PonderTimes {
			if len(p.Positions) > maxSteps(was) {
				return fmt.Errorf("measured: task %d has ponder times of %d steps", t.Task, len(p.Positions))
			}
		}
		if err := facts.same(r, fmt.Sprintf("uniform attention of task %d", t.Task), fmt.Sprintf("%.9f", t.Attention[0].Uniform)); err != nil {
			return err
		}
	}
	switch {
	case !slices.Equal(have, tasks):
		return fmt.Errorf("measured.tests are of tasks %v, want %v", have, tasks)
	case m.StandIn != standIn:
		return fmt.Errorf("measured.stand_in is %q, but that of the configuration is %q", m.StandIn, standIn)
	case m.TrainingQuestions+m.Validation.Questions != questions:
		return fmt.Errorf("measured: %d questions for training and %d for validation, want %d", m.TrainingQuestions, m.Validation.Questions, questions)
	case r.Validation > 0 && r.Validation*float64(m.Validation.Questions) < math.Ln2*float64(m.Validation.Wrong): // the right answer has at most half of the probability
		return fmt.Errorf("validation is %v, with %d wrong of %d answers", r.Validation, m.Validation.Wrong, m.Validation.Questions)
	}
	return facts.same(r, "validation questions", m.Validation.Questions)
}

// halts reports whether a run's model has dynamic halting.
func halts(r experiment.Run) bool { return r.Policy() != nil && maxSteps(r) > 0 }

// maxSteps returns the greatest number of steps of a model with dynamic halting, 0 for others.
func maxSteps(r experiment.Run) int {
	if p := r.Policy(); p != nil {
		if _, fixed := p.(halting.Fixed); !fixed {
			return p.Limit(0)
		}
	}
	return 0
}

// withoutModel matches the metrics that the data alone give.
var withoutModel = regexp.MustCompile(`^(covered|ceiling|.* content word)$| (always plural|more frequent|last word)$`)

// metricSets checks sets and metrics: their names and counts are those of every model, and so are the figures of baselines. The
// control set of LAMBADA's language models is of the same texts as validation: the cross entropies of
// all tokens differ by 0.3 nats at most.
func metricSets(r sweep.Result, was experiment.Run, m *measure.Metrics, facts facts) error {
	var sets []set
	for _, s := range m.Sets {
		sets = append(sets, set{s.Name, s.Examples})
		var names, totals, baselines []string
		for _, metric := range s.Metrics {
			if math.IsNaN(metric.Value) {
				return fmt.Errorf("measured: %s of %s is missing", metric.Name, s.Name)
			}
			names, totals = append(names, metric.Name), append(totals, fmt.Sprint(metric.Accuracy.Total))
			if perplexity := strings.Contains(metric.Name, "perplexity"); perplexity {
				if nats := math.Log(metric.Value); s.Name == "control" && metric.Name == "all tokens perplexity" && math.Abs(nats-r.Validation) > 0.3 {
					return fmt.Errorf("measured: all tokens of the control set have %v nats, but validation is %v", nats, r.Validation)
				}
			} else if withoutModel.MatchString(metric.Name) {
				baselines = append(baselines, fmt.Sprintf("%s %.9f", metric.Name, metric.Value))
			}
		}
		spread := stepsWithin(s.Encoder+s.Decoder, s.Deviation, maxSteps(was))
		if err := errors.Join(facts.same(r, s.Name+": metrics", names), facts.same(r, s.Name+": totals", totals), facts.same(r, s.Name+": baselines", baselines), spread); err != nil {
			return err
		}
	}
	for _, k := range m.Kinds {
		if err := errors.Join(facts.same(r, "kind "+k.Name, k.Examples), stepsWithin(k.Encoder+k.Decoder, k.Deviation, maxSteps(was))); err != nil {
			return err
		}
	}
	return sameSets(sets, dataSets[r.Column()])
}

// stepsWithin returns an error unless mean and standard deviation can be those of numbers of steps up to maximum: E(n-1)(maximum-n) is not negative.
// Models without dynamic halting, with maximum 0, have no ponder times.
func stepsWithin(mean, deviation float64, maximum int) error {
	if maximum == 0 && mean == 0 && deviation == 0 {
		return nil
	}
	if limit := (mean - 1) * (float64(maximum) - mean); !(limit >= -1e-6 && deviation*deviation <= limit+1e-4) {
		return fmt.Errorf("measured: the ponder time is %v ± %v of at most %d steps", mean, deviation, maximum)
	}
	return nil
}
