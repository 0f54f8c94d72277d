package measure

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
)

// saveSequences writes a result as the runner does.
func saveSequences(recipe string, seed uint64, folder string) error {
	all := score.Accuracy{Correct: 9, Total: 10}
	measured, err := json.Marshal(&Sequences{Sets: []SequenceSet{{Name: "maximum", Examples: 10, Decoded: score.Score{Tokens: all, Sequences: all}}}})
	if err != nil {
		return err
	}
	return sweep.Result{Header: sweep.Header{Recipe: recipe, Seed: seed, Stopped: "done", ChosenBy: sweep.ByEntropy}, Measured: measured, Config: []byte("{}")}.Save(folder)
}

// The fine-tuned control starts from the program model of the same seed, and not before that one is finished, nor without its run.
// Caught when planted: another seed; a run that starts without it; a result without its run that is not told apart.
func TestFineTunedNeedsPretrained(t *testing.T) {
	r := request("programs-fine-tuned", "", t.TempDir())
	r.Table, r.Columns, r.Seeds, r.Set = paper.Table6(), nil, []uint64{2}, nil
	c := r.cells(t)[0]
	if want := filepath.Join(r.Runs, "programs-wide", "program-seed2"); c.Run.Training.Pretrained != want {
		t.Errorf("it starts from %q, want %q", c.Run.Training.Pretrained, want)
	}
	run, outcomes := runner()
	err := run.Run(t.Context(), []sweep.Cell{c})
	if want := "programs-wide/program-seed2, which is not finished"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, fs.ErrNotExist) || outcomes[c.Name()].Err == nil {
		t.Errorf("it began: %v", err)
	}
	if err := saveSequences("programs-wide/program", 2, c.Results); err != nil {
		t.Fatal(err)
	}
	err = run.Run(t.Context(), []sweep.Cell{c})
	if want := "whose run is not in " + r.Runs; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// What a cell measures is what the program measures with the same model on the same examples; hard cases are measured, too, and a
// configuration of a table is right for all of its rows and tasks.
// Caught when planted: sources of hard cases without End; sets of another seed; the set of another block.
func TestMeasureSequences(t *testing.T) {
	table := paper.Table4()
	table.Sets = []paper.Set{{Name: "length 9", Length: 9, Count: 30, Forced: true}, {Name: "mix", Mix: 12, Count: 30}, {Name: "of others", Length: 9, Count: 1, Block: paper.ExtendedUpdates, Only: true}}
	kinds := func(task.Definition) []task.Case {
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
	measured, err := generated(table, kinds)(context.Background(), m, sweep.Cell{Recipe: recipe.Name}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := measured.Validate(); err != nil {
		t.Fatal(err)
	}
	sets := measured.(*Sequences).Sets
	if len(sets) != 3 || sets[2].Name != "hard" || sets[2].Decoded.Tokens.Total != 4 || sets[1].Forced != nil {
		t.Fatalf("%+v", sets)
	}
	for i, set := range table.MeasuredSets(paper.OtherPositions) {
		for forced, got := range map[bool]*score.Score{false: &sets[i].Decoded, true: sets[i].Forced} {
			if got == nil {
				continue
			}
			want, err := m.Evaluate(context.Background(), pipeline.Protocol{Selection: task.Selection{Length: set.Length, Mix: set.Mix, Count: set.Count}, TeacherForced: forced})
			if err != nil {
				t.Fatal(err)
			}
			if tokens, sequences := want.Metrics[0].Accuracy, want.Metrics[1].Accuracy; got.Tokens != tokens || got.Sequences != sequences {
				t.Errorf("%s, forced %v: %v, want %v and %v", set.Name, forced, got, tokens, sequences)
			}
			if got.Tokens.Correct == 0 || got.Tokens.Correct == got.Tokens.Total {
				t.Errorf("%s: the model is so good or bad that this test sees nothing: %v", set.Name, got)
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
		if got := firstDifference(c.answer, target); got != c.want {
			t.Errorf("%v differs at %d, want %d", c.answer, got, c.want)
		}
	}
}

// Caught when planted: no limit of the digits, which does not end.
func TestDecimals(t *testing.T) {
	for want, a := range map[string]score.Accuracy{
		"1.000": {Correct: 10, Total: 10}, "0.99999": {Correct: 99_999, Total: 100_000}, "0.999": {Correct: 999, Total: 1000}, "0.000": {Correct: 0, Total: 7},
		"1.0000000000000000": {Correct: 1<<62 - 1, Total: 1 << 62}, // is 1 in float64
	} {
		if got := Decimals(a); got != want {
			t.Errorf("%v is %s, want %s", a, got, want)
		}
	}
}
