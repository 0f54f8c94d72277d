package recipes_test

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/halting"
	"universal-transformer/task/agreement"
	"universal-transformer/task/execute"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// The rows of tables 2, 3, 5 and 6 have as many parameters as their Universal Transformer: within 3 % where vocabularies are a few symbols, within
// 10 % at those of the novels and of numpred. Rows whose summary gives a width differ. Caught when planted: a Transformer as wide as the Universal
// Transformer.
func TestBaselinesHaveAsManyParameters(t *testing.T) {
	const (
		numpred = 6900 // 5,200 natural, 8,600 enriched
		classes = 3450 // of source and target; the real target has two classes
		books   = 13_500
		words   = 12_000
		both    = 13_600 // of the novels and of numpred
		natural = 5200
	)
	for own, c := range map[string]struct {
		tokens int // of the assumed vocabulary; 0: that of the task
		within float64
	}{
		"memory/copy": {0, 0.03}, "programs/program": {0, 0.03},
		"programs/control": {0, 0.03}, "programs/addition": {0, 0.03},
		"agreement/natural-text": {numpred, 0.1}, "agreement/natural-classes": {classes, 0.1}, "agreement/pairs": {books, 0.1},
		"agreement/forms-text": {natural, 0.1}, "agreement/pairs-novels": {words, 0.1}, "agreement/forms-pretrained": {both, 0.1},
		"lambada/language": {words, 0.1}, "lambada/reading": {words, 0.1},
	} {
		want, rows := countParameters(t, recipes.MustRun(own), c.tokens), 0
		family, column, _ := strings.Cut(own, "/")
		for _, r := range recipes.All() {
			if !strings.HasPrefix(r.Name, family+"-") || !strings.HasSuffix(r.Name, "/"+column) || strings.Contains(r.Summary, "width") || r.Family() == "lambada-paper" {
				continue
			}
			rows++
			if have := countParameters(t, r.Run(), c.tokens); math.Abs(have/want-1) > c.within {
				t.Errorf("%s: %.0f parameters, %s has %.0f", r.Name, have, own, want)
			}
		}
		if rows < 3 {
			t.Errorf("%s is compared with %d rows", own, rows)
		}
	}
}

// Rows that are compared differ in the model, and in what their family says: clipping and the rate of LSTMs, Adam for the published Transformer, ...
// Caught when planted: a baseline with label smoothing; a longer row of another batch size.
func TestRowsDifferInTheModel(t *testing.T) {
	same := func(name, other string, change func(r, other *experiment.Run)) {
		t.Helper()
		r, o := recipes.MustRun(name), recipes.MustRun(other)
		r.Name, r.Model, r.Training.ClipNorm = o.Name, o.Model, o.Training.ClipNorm
		if change != nil {
			change(&r, &o)
		}
		if !reflect.DeepEqual(r, o) {
			t.Errorf("%s differs from %s:\n%s\n%s", name, other, r.JSON(), o.JSON())
		}
	}
	schedule := func(r, o *experiment.Run) { r.Training.Schedule = o.Training.Schedule }
	updates := func(r, o *experiment.Run) {
		schedule(r, o)
		r.Training.Steps = o.Training.Steps
	}
	ponder := func(r, o *experiment.Run) { r.Training.Ponder = o.Training.Ponder }
	for _, column := range []string{"natural-text", "natural-classes", "enriched-text", "enriched-classes", "verbs", "forms", "forms-text", "pairs", "pairs-novels"} {
		same("agreement-transformer/"+column, "agreement/"+column, nil)
		same("agreement-adaptive/"+column, "agreement/"+column, nil)
		same("agreement-lstm/"+column, "agreement/"+column, schedule)
	}
	for _, column := range []string{"language", "reading", "annotated", "novels", "novels-words", "novels-reading"} {
		same("lambada-transformer/"+column, "lambada/"+column, nil)
		same("lambada-adaptive/"+column, "lambada/"+column, nil)
		same("lambada-lstm/"+column, "lambada/"+column, schedule)
	}
	for _, column := range []string{"copy", "reverse", "addition"} {
		same("algorithmic-coupled/"+column, "algorithmic-adam/"+column, nil)
		same("algorithmic-alike-offset/"+column, "algorithmic/"+column, nil)
		same("algorithmic-neural-gpu/"+column, "algorithmic-adam/"+column, updates)
		same("algorithmic-lstm/"+column, "algorithmic-adam/"+column, updates)
		same("algorithmic-lstm-plain/"+column, "algorithmic-lstm/"+column, nil)
		same("algorithmic-transformer/"+column, "algorithmic-paper/"+column, nil)
		same("algorithmic-paper-adaptive/"+column, "algorithmic-paper/"+column, nil)
	}
	for family, columns := range map[string][]string{"memory": {"copy", "double", "reverse"}, "programs": {"program", "control", "addition"}} {
		for _, column := range columns {
			same(family+"-lstm/"+column, family+"/"+column, nil)
			same(family+"-transformer/"+column, family+"/"+column, nil)
			same(family+"-adaptive/"+column, family+"/"+column, ponder)
		}
	}
	for _, column := range []string{"program", "control"} {
		same("programs-wide-transformer/"+column, "programs-wide/"+column, nil)
	}
	for _, column := range []string{"multi30k", "multi30k-raw", "news"} {
		same("translation-transformer/"+column, "translation/"+column, nil)
	}
	same("translation-weighted-transformer/multi30k", "translation/multi30k", nil)
	same("translation-small/multi30k", "translation/multi30k", nil)
	same("translation-adaptive/multi30k", "translation/multi30k", ponder)
	for _, set := range []string{"babi-10k-single/task03", "babi-1k-single/task20", "babi-10k-joint/joint", "babi-1k-joint/joint", "babi-1k-single-renamed/task20", "babi-1k-joint-renamed/joint"} {
		family, task, _ := strings.Cut(set, "/")
		same(family+"-transformer/"+task, set, nil)
		if family == "babi-10k-joint" {
			same(family+"-adaptive/"+task, set, ponder)
		} else {
			same(family+"-adaptive/"+task, set, nil)
		}
	}
}

// Language models of verb forms that start from one of novels have its model, apart from dropout, and know its words. Caught when planted: the
// Transformer of width 100 in one of them; the words of another number.
func TestFormsStartFromNovels(t *testing.T) {
	modelOf := func(r experiment.Run) map[string]any {
		fields := r.Fields()
		maps.DeleteFunc(fields, func(path string, _ any) bool {
			return !strings.HasPrefix(path, "model.") || strings.Contains(path, ".dropout")
		})
		return fields
	}
	for _, family := range []string{"agreement-lstm", "agreement-transformer", "agreement", "agreement-adaptive"} {
		recipe, err := recipes.Named(family + "/forms-pretrained")
		if err != nil || recipe.From != family+"/pairs-novels" {
			t.Fatalf("%+v, %v", recipe, err)
		}
		r, from := recipe.Run(), recipes.MustRun(recipe.From)
		if m := modelOf(r); len(m) < 4 || !reflect.DeepEqual(m, modelOf(from)) {
			t.Errorf("%s: %s, %s has %s", r.Name, r.JSON(), from.Name, from.JSON())
		}
		forms, novels := r.Task.Value.(agreement.TextForms), from.Task.Value.(agreement.Pairs)
		if forms.Text != novels.Text || forms.Vocabulary != novels.Vocabulary || forms.Pairs != novels.Path || novels.Vocabulary != 12_000 || novels.MinCount > 1 {
			t.Errorf("%s: %+v and %+v", family, forms, novels)
		}
		without := recipes.MustRun(family + "/forms-text")
		if have, want := without.Training, r.Training; want.Pretrained != filepath.Join("runs", family, "pairs-novels") || have.Pretrained != "" {
			t.Errorf("%s: from %q, without %q", family, want.Pretrained, have.Pretrained)
		}
		r.Training.Pretrained = ""
		if !reflect.DeepEqual(r.Training, without.Training) {
			t.Errorf("%s is trained otherwise than %s", r.Name, without.Name)
		}
	}
}

// The models that are trained like the headline model of table 4 have its positions, counting and regularization, and nothing but the model
// and the narrow Transformer's rate differs. The narrow Transformer and the LSTM have as many parameters, the other Transformer as many layers of
// the same width.
// Caught when planted: dropout in the LSTM; ordinary positions of the Transformers; a Transformer of width 48; two steps instead of one.
func TestModelsTrainedAlike(t *testing.T) {
	rows := map[string]string{"algorithmic": "algorithmic-alike", "algorithmic-adam": "algorithmic-adam"}
	for _, name := range []string{"algorithmic/copy", "algorithmic/reverse", "algorithmic/addition", "algorithmic-adam/copy", "algorithmic-adam/reverse", "algorithmic-adam/addition"} {
		own := recipes.MustRun(name)
		family, column, _ := strings.Cut(name, "/")
		u, total := own.Model.Value.(experiment.UniversalKind).Step(), countParameters(t, own, 0)
		for name, c := range map[string]struct {
			untied       bool
			steps, width int
			low, high    float64 // parameters, relative to the headline model
		}{
			"transformer": {true, 4, 64, 3.5, 4}, "transformer-narrow": {true, 4, 32, 0.97, 1.03}, "one-step": {false, 1, 64, 1, 1}, "lstm": {low: 0.97, high: 1.03},
		} {
			r := recipes.MustRun(rows[family] + "-" + name + "/" + column)
			if share := countParameters(t, r, 0) / total; share < c.low || share > c.high {
				t.Errorf("%s: %.3f times the parameters of %s", r.Name, share, own.Name)
			}
			switch m := r.Model.Value.(type) {
			case experiment.LSTMEncoderDecoder:
				if m.Dropout != 0 || !m.Attention || m.TiedReadout != u.TiedReadout {
					t.Errorf("%s: %+v", r.Name, m)
				}
			case experiment.EncoderDecoder:
				if m.UntiedLayers != c.untied || m.Width != c.width || m.Halting.Value != (halting.Fixed{Steps: c.steps}) ||
					m.Dropout != u.Dropout || m.PreNorm != u.PreNorm || !reflect.DeepEqual(m.Positions, u.Positions) || !reflect.DeepEqual(m.Counting, u.Counting) {
					t.Errorf("%s: %+v", r.Name, m)
				}
			}
			want := own
			if name == "transformer-narrow" && family == "algorithmic" {
				want.Training.Schedule.Value = schedule.Cosine{Peak: 0.003, Floor: 0.00015, Warmup: 200} // as the search of rates chose
			}
			if r.Name, r.Model, r.Training.ClipNorm = own.Name, own.Model, 1; !reflect.DeepEqual(r, want) {
				t.Errorf("%s/%s differs from %s in more than the model:\n%s\n%s", name, column, own.Name, r.JSON(), want.JSON())
			}
		}
	}
}

// The Weighted Transformer of table 7 is its Transformer but for the branches: in each of 12 layers, kappa and alpha of 4 branches, and
// no norm of the transition, gain and bias of 76 channels. The small Universal Transformer has half of the width and filter.
// Caught when planted: a bias of every branch; a filter that is not halved.
func TestSmallAndWeightedTranslation(t *testing.T) {
	parameters := func(name string) float64 { return countParameters(t, recipes.MustRun(name), 200) }
	if have, want := parameters("translation-weighted-transformer/multi30k"), parameters("translation-transformer/multi30k")+12*(2*4-2*76); have != want {
		t.Errorf("%v parameters, want %v", have, want)
	}
	for name, c := range map[string][3]int{"translation/multi30k": {192, 640, 6}, "translation-small/multi30k": {96, 320, 3}} {
		u := recipes.MustRun(name).Model.Value.(experiment.EncoderDecoder)
		if have := [3]int{u.Width, u.Transition.Value.(universal.FeedForward).Filter, u.Heads}; have != c || u.EmbeddingWidth != 76 || u.UntiedLayers {
			t.Errorf("%s: width, filter and heads %v, want %v", name, have, c)
		}
	}
}

// Transformers have layers of their own at a fixed depth. Caught when planted: an adaptive Transformer.
func TestTransformersHaveLayers(t *testing.T) {
	for _, r := range recipes.All() {
		transformer := strings.Contains(r.Name, "transformer") || r.Family() == "translation-tiny"
		m := r.Run().Model.Value
		kind, ok := m.(experiment.UniversalKind)
		if !ok {
			if !strings.Contains(r.Name, "lstm") && !strings.Contains(r.Name, "neural-gpu") {
				t.Errorf("%s is %s", r.Name, m.Describe())
			}
			continue
		}
		u := kind.Step()
		if fixed, ok := u.Halting.Value.(halting.Fixed); u.UntiedLayers != transformer || transformer && (!ok || fixed.Steps < 2) {
			t.Errorf("%s: %+v", r.Name, u)
		}
	}
}

// The extended rows of table 4 are the block with our positions with half as many updates again, and with nothing else that is different.
// Caught when planted: twice the updates; a Transformer without the lower rate.
func TestExtendedRows(t *testing.T) {
	for base, family := range map[string]string{
		"algorithmic": "algorithmic-extended", "algorithmic-alike-transformer": "algorithmic-extended-transformer", "algorithmic-alike-lstm": "algorithmic-extended-lstm",
		"algorithmic-alike-transformer-narrow": "algorithmic-extended-transformer-narrow", "algorithmic-alike-one-step": "algorithmic-extended-one-step",
	} {
		for _, column := range []string{"copy", "reverse", "addition"} {
			want, got := recipes.MustRun(base+"/"+column), recipes.MustRun(family+"/"+column)
			want.Name, want.Training.Steps = got.Name, 12_000
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %+v, want %+v", got.Name, got, want)
			}
		}
	}
}

// The rows of longer training are their baselines with more updates, and with nothing else that is different.
// Caught when planted: a factor of 4.
func TestLongerRows(t *testing.T) {
	for baseline, times := range map[string]float64{
		"memory-lstm": 5, "memory-transformer": 2, "programs-lstm": 5, "programs-transformer": 2,
		"algorithmic-alike-lstm": 5, "algorithmic-alike-transformer-narrow": 2.3, "algorithmic-alike-one-step": 4, "algorithmic-adam-one-step": 4,
		"translation-transformer": 2.3,
	} {
		columns := []string{"copy", "double", "reverse"}
		switch family, _, _ := strings.Cut(baseline, "-"); family {
		case "programs":
			columns = []string{"program", "control", "addition"}
		case "algorithmic":
			columns = []string{"copy", "reverse", "addition"}
		case "translation":
			columns = []string{"multi30k", "multi30k-raw", "news"}
		}
		for _, column := range columns {
			want, longer := recipes.MustRun(baseline+"/"+column), recipes.MustRun(baseline+"-longer/"+column)
			if got := float64(longer.Training.Steps) / float64(want.Training.Steps); math.Abs(got-times) > 1e-9 {
				t.Errorf("%s: %d updates, its baseline has %d", longer.Name, longer.Training.Steps, want.Training.Steps)
			}
			longer.Name, longer.Training.Steps = want.Name, want.Training.Steps
			if !reflect.DeepEqual(longer, want) {
				t.Errorf("%s differs from its baseline: %+v, want %+v", column, longer, want)
			}
		}
	}
}

// The rows of width 128 and 256 are what their summaries say, and are trained on the operations that they name.
// Caught when planted: width 64; training operations of program; little-end answers of the wide row, and none of the other; factors that
// are not sparse.
func TestWideRows(t *testing.T) {
	for name, c := range map[string]struct {
		trained      string
		littleEnd    bool
		width, steps int
		longest      float64
	}{
		"programs-wide/control":       {execute.ProgramAndLoops, false, 128, 4, 0},
		"programs-wide/program":       {"", false, 128, 4, 0},
		"programs-little-end/control": {execute.AdditionAndLoops, true, 128, 4, 0},
		"programs-fine-tuned/control": {execute.ControlAndLoops, false, 128, 6, 0.6},
		"programs-large/program":      {execute.ProgramAndProducts, true, 256, 6, 0.3},
	} {
		run := recipes.MustRun(name)
		u, p := run.Model.Value.(experiment.EncoderDecoder), run.Task.Value.(execute.Program)
		if u.Width != c.width || u.Halting.Value != (halting.Fixed{Steps: c.steps}) {
			t.Errorf("%s: width %d, halting %v; want %d and %d steps", name, u.Width, u.Halting.Value, c.width, c.steps)
		}
		if p.TrainingSparseFactors != strings.Contains(name, "large") || p.TrainingLongest != c.longest || p.LittleEndFirst != c.littleEnd {
			t.Errorf("%s: sparse factors %v, longest %v, from the last digit %v", name, p.TrainingSparseFactors, p.TrainingLongest, p.LittleEndFirst)
		}
		if operations := map[bool]string{true: execute.Control, false: execute.AllOperations}[strings.HasSuffix(name, "control")]; p.TrainingOperations != c.trained || p.Operations != operations {
			t.Errorf("%s: operations %q, in training %q; want %q in training", name, p.Operations, p.TrainingOperations, c.trained)
		}
	}
}

// The Transformer of table 1 has weights of its own in each layer, and the adaptive model halts; joint runs are of all tasks.
func TestBabiRuns(t *testing.T) {
	for name, want := range map[string]string{
		"babi-10k-single-transformer/task07": "Transformer, 4 layers, width 64, 4 heads; bAbI en-10k task 7; decay 0.1",
		"babi-1k-joint-transformer/joint":    "Transformer, 4 layers, width 128, 8 heads; bAbI en joint; decay 0",
		"babi-1k-single-adaptive/task07":     "Universal Transformer, adaptive (ACT, halted states copied), at most 6 steps, width 64, 4 heads; bAbI en task 7; decay 0",
		"babi-1k-joint-renamed/joint":        "Universal Transformer, 4 steps, width 128, 8 heads; bAbI en joint, names exchanged in training at 0.5 of the visits, synonyms exchanged in training, task 16 visited 4 times an epoch, task 17 visited 4 times an epoch; decay 0.1",
		"babi-10k-joint/joint":               "Universal Transformer, 4 steps, width 128, 8 heads; bAbI en-10k joint, task 16 visited 4 times an epoch, task 17 visited 4 times an epoch; decay 0.1",
	} {
		r := recipes.MustRun(name)
		decay, _ := json.Marshal(r.Training.WeightDecay)
		if got := r.Model.Value.Describe() + "; " + r.Task.Value.String() + "; decay " + string(decay); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
