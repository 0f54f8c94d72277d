package paper

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// decoded is a result of table 4: so many of 1,000 sequences of 401 tokens right at length 400, one token wrong in each of the others.
func decoded(experiment, label string, seed uint64, right int) Result {
	set := func(name string, wrong int) measuredSet {
		return measuredSet{Name: name, Examples: 1000, FirstWrong: 0.25, Decoded: score.Score{
			Tokens: score.Accuracy{Correct: 401_000 - wrong, Total: 401_000}, Sequences: score.Accuracy{Correct: 1000 - wrong, Total: 1000},
		}}
	}
	forced := set("length 400", (1000-right)/2)
	sets := []measuredSet{set("length 400", 1000-right), set("length 40", 0)}
	sets[0].Forced = &forced.Decoded
	return Result{
		Header: Header{
			Version: "0.3.0+abc", Experiment: experiment, Model: "a model", Task: label, Seed: seed, Data: "d", Parameters: 12345, Step: 3000, Seconds: 600, Threads: 1,
			Validation: 0.001 / float64(seed), // the last seed is chosen
		},
		Measured: &sequencesMeasured{Sets: sets},
		Config:   []byte("{}"),
	}
}

// The page has the seed of the best validation in the table, all seeds with median and deviation, the paper's figures above, and says what is missing; a share
// that is not 1 is not printed as 1; models are compared by their chosen seeds, where both have results. The expectations are worked out by hand.
// Caught when planted: the first seed, or the best in the test, for the one of the best validation; a median of sorted names; 0.99999 printed as 1; the table's own
// model compared with itself; a difference within the intervals called better.
func TestSequencesPage(t *testing.T) {
	results := []Result{
		decoded("algorithmic", "copy", 1, 900), decoded("algorithmic", "copy", 2, 1000), decoded("algorithmic", "copy", 3, 996),
		decoded("algorithmic", "reverse", 1, 998), decoded("algorithmic-coupled", "addition", 1, 0),
		decoded("algorithmic-lstm", "copy", 1, 500), decoded("algorithmic-lstm", "reverse", 1, 997), decoded("algorithmic-transformer", "reverse", 1, 1000),
	}
	page := Render(results, t.TempDir(), ".")
	text := string(page.Bytes())
	for _, want := range []string{
		"| Universal Transformer, counted from both ends | length 400 | 0.99999 (0.996) | 0.999995 (0.998) | missing |",
		"| Universal Transformer, coupled positions | length 400 | missing | missing | 0.998 (0.000) |",
		"| Universal Transformer, the paper's positions | paper | 0.91 (0.35) | 0.96 (0.46) | 0.34 (0.02) |",
		"|  | length 400 | missing | missing | missing |",
		"Sequence accuracy of algorithmic, copy, length 400: seed 1 0.900, seed 2 1.000, seed 3 0.996; median 0.996, mean 0.965 ± 0.057.",
		"| copy | algorithmic | 1 | 1,000 | length 400 | 0.9998 (0.900) / 0.9999 (0.950) | 0.25 | 0 |  |",
		"| copy | algorithmic | 2 | 1,000 | length 40 | 1.000 (1.000) |  | 0 |  |",
		"| algorithmic | copy | 1 | a model | 12,345 | 3,000 | 0.001 | 10 | 1 | 0.3.0+abc |",
		"Universal Transformer, counted from both ends 0.99999 (0.996), 0.999995 (0.998), missing",
		"Universal Transformer, counted from both ends: addition; Universal Transformer, coupled positions: copy and reverse",
		"- Universal Transformer, coupled positions: each source token gets the position",
		"| LSTM with attention | +0.496 (10, 10) | ~+0.001 (10, 10) |  |\n", "| Transformer |  | ~-0.002 (10, 10) |  |\n", "- reverse: not better than LSTM with attention and Transformer.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, no := range []string{"- Neural GPU: ", "- copy: no better", "| Universal Transformer, coupled positions |  |"} {
		if strings.Contains(text, no) {
			t.Errorf("the page has %q", no)
		}
	}
	figure := string(page.Figures["algorithmic-copy-length.svg"])
	// seed 1, from 40 to 400: the axis goes from 40/1.2 to 400, so 40 lies at 40 + 460 ln 1.2 / ln 12 = 73.8, and 0.9 at 30 + 220 * 0.1
	for _, want := range []string{`points="73.8,30.0 500.0,52.0"`, ">400</text>", "seed 3"} {
		if !strings.Contains(figure, want) {
			t.Errorf("the figure of copy lacks %q: %s", want, figure)
		}
	}
	if len(page.Figures) != 3 {
		t.Errorf("%d figures, want one a task", len(page.Figures))
	}
}

// Sets of one kind are a table of the seeds that validation chose, one column a model that has results; where the depth is adaptive, ponder
// times stand beside and in a figure. Lengths of bars are worked out by hand.
// Caught when planted: the first seed for the chosen one; ordinary sets among the kinds; bars as long as the largest of their group.
func TestKindsPage(t *testing.T) {
	kind := func(name string, right int, encoder, decoder float64) measuredSet {
		return measuredSet{Name: name, Examples: 100, Encoder: encoder, Decoder: decoder, Decoded: score.Score{
			Tokens: score.Accuracy{Correct: 700, Total: 700}, Sequences: score.Accuracy{Correct: right, Total: 100},
		}}
	}
	result := func(experiment string, seed uint64, sets ...measuredSet) Result {
		r := decoded(experiment, "program", seed, 1000)
		r.Measured = &sequencesMeasured{Sets: append([]measuredSet{kind("mix", 50, sets[0].Encoder, sets[0].Decoder)}, sets...)}
		return r
	}
	page := Render([]Result{
		result("programs", 1, kind("nesting 1: +", 11, 0, 0)), result("programs", 2, kind("nesting 1: +", 97, 0, 0)),
		result("programs-adaptive", 1, kind("nesting 1: +", 98, 2, 1.5), kind("nesting 1: *", 3, 4, 3)),
	}, t.TempDir(), ".")
	text := string(page.Bytes())
	for _, want := range []string{
		"| program | Universal Transformer | UT with dynamic halting |\n", "\n| nesting 1: + | 0.970 | 0.980 (2.0, 1.5) |\n| nesting 1: * |  | 0.030 (4.0, 3.0) |\n",
		"/programs-adaptive-program-ponder.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "\n| mix | 0.500") {
		t.Error("an ordinary set is among the kinds")
	}
	figure := string(page.Figures["programs-adaptive-program-ponder.svg"])
	for _, want := range []string{`width="150.0"`, `width="112.5"`, `width="300.0"`, `width="225.0"`, ">nesting 1: *<", ">mix<", ">4.00<"} {
		if !strings.Contains(figure, want) {
			t.Errorf("the figure lacks %q: %s", want, figure)
		}
	}
	if _, ok := page.Figures["programs-program-ponder.svg"]; ok {
		t.Error("a model of fixed depth has a figure of ponder times")
	}
}

// A row of some tasks has no cells of the others: none is missing, and none is an experiment's task.
// Caught when planted: "missing" in these cells, in the overview and in the table; all tasks for the row's experiment.
func TestRowOfSomeTasks(t *testing.T) {
	result := decoded("programs-wide", "control", 1, 900)
	sets := result.Measured.(*sequencesMeasured).Sets
	sets[0].Name, sets[1].Name = "maximum", "mix"
	text := string(Render([]Result{result}, t.TempDir(), ".").Bytes())
	for _, want := range []string{
		"UT, width 128, 4 steps program missing, control 0.9998 (0.900)", "4 steps: program; ", "\n| UT, width 128, 4 steps | maximum | missing | 0.9998 (0.900) |  |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "4 steps: program and addition") {
		t.Error("the overview says that tasks are missing that the row does not have")
	}
	for _, e := range evaluatedPrograms.Table().Experiments {
		if want := []string{"program", "control"}; e.Name == "programs-wide" && !slices.Equal(e.Tasks, want) {
			t.Errorf("%s has the tasks %v, want %v", e.Name, e.Tasks, want)
		}
	}
}

// The fine-tuned control starts from the program model of the same seed, and not before that one is finished, nor without its run.
// Caught when planted: another seed; a run that starts without it; a result without its run that is not told apart.
func TestFineTunedNeedsPretrained(t *testing.T) {
	r := request("programs-fine-tuned", "", t.TempDir())
	r.Tasks, r.Seeds, r.Set = nil, []uint64{2}, nil
	c := r.cells(t)[0]
	if want := filepath.Join(r.Runs, "programs-wide", "program-seed2"); c.Run.Training.Pretrained != want {
		t.Errorf("it starts from %q, want %q", c.Run.Training.Pretrained, want)
	}
	run, outcomes := runner(1)
	err := run.Run(t.Context(), []Cell{c})
	if want := "programs-wide/program-seed2, which is not finished"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, fs.ErrNotExist) || outcomes[c.Name()].Err == nil {
		t.Errorf("it began: %v", err)
	}
	if err := save(decoded("programs-wide", "program", 2, 900), c.Results); err != nil {
		t.Fatal(err)
	}
	err = run.Run(t.Context(), []Cell{c})
	if want := "whose run is not in " + r.Runs; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// What a cell measures is what the program measures with the same model on the same examples; hard cases are measured, too, and a
// configuration of a table is right for all of its rows and tasks.
// Caught when planted: sources of hard cases without End; sets of another seed.
func TestMeasureSequences(t *testing.T) {
	s := *lengthGeneralization
	s.sets = []sequenceSet{{name: "length 9", choice: task.Selection{Length: 9, Count: 30}, forced: true}, {name: "mix", choice: task.Selection{Mix: 12, Count: 30}}}
	s.kinds = func(task.Definition) []task.Case {
		return []task.Case{{Name: "hard", Examples: []task.Example{{Source: []vocab.ID{2, 3, 4}, Target: []vocab.ID{2, 3, 4, vocab.End}}}}}
	}
	recipe, err := recipes.Named("algorithmic/copy")
	if err != nil {
		t.Fatal(err)
	}
	run, err := recipe.Run().Set("model.width=16", "training.steps=40", "training.evaluate_every=40", "training.schedule.cosine.warmup=5", "training.schedule.cosine.peak=0.01", `model.positions={"random_runs": {"max": 16}}`,
		"task.copy.max_length=8", "training.batch.tokens=256", "training.validation=16")
	if err != nil {
		t.Fatal(err)
	}
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(context.Background(), b, run, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, b)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	measured, err := s.measure(context.Background(), m, Cell{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := measured.Validate(); err != nil {
		t.Fatal(err)
	}
	sets := measured.(*sequencesMeasured).Sets
	if len(sets) != 3 || sets[2].Name != "hard" || sets[2].Decoded.Tokens.Total != 4 || sets[1].Forced != nil {
		t.Fatalf("%+v", sets)
	}
	for i, set := range s.sets {
		for forced, got := range map[bool]*score.Score{false: &sets[i].Decoded, true: sets[i].Forced} {
			if got == nil {
				continue
			}
			want, err := m.Evaluate(context.Background(), pipeline.Protocol{Selection: set.choice, TeacherForced: forced})
			if err != nil {
				t.Fatal(err)
			}
			if tokens, sequences := want.Metrics[0].Accuracy, want.Metrics[1].Accuracy; got.Tokens != tokens || got.Sequences != sequences {
				t.Errorf("%s, forced %v: %v, want %v and %v", set.name, forced, got, tokens, sequences)
			}
			if got.Tokens.Correct == 0 || got.Tokens.Correct == got.Tokens.Total {
				t.Errorf("%s: the model is so good or bad that this test sees nothing: %v", set.name, got)
			}
		}
	}
}

// The first wrong place of an answer: a wrong token, one that is missing, one too many.
func TestDiffer(t *testing.T) {
	target := []vocab.ID{5, 6, 7, 1}
	for _, c := range []struct {
		answer []vocab.ID
		want   int
	}{{target, -1}, {[]vocab.ID{5, 9, 7, 1}, 1}, {[]vocab.ID{5, 6, 1}, 2}, {[]vocab.ID{5, 6}, 2}, {[]vocab.ID{5, 6, 7, 1, 1}, 3}, {nil, 0}} {
		if got := differ(c.answer, target); got != c.want {
			t.Errorf("%v differs at %d, want %d", c.answer, got, c.want)
		}
	}
}

func TestDecimals(t *testing.T) {
	for want, a := range map[string]score.Accuracy{
		"1.000": {Correct: 10, Total: 10}, "0.99999": {Correct: 99_999, Total: 100_000}, "0.999": {Correct: 999, Total: 1000}, "0.000": {Correct: 0, Total: 7},
	} {
		if got := decimals(a); got != want {
			t.Errorf("%v is %s, want %s", a, got, want)
		}
	}
}
