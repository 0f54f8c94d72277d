package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// Data that were moved are reported, also if they are in the first place where they are looked for.
func TestLocatedDataAreReported(t *testing.T) {
	log := emptyRun(t)
	away := filepath.Join(t.TempDir(), "data", "pairs.tsv")
	here := filepath.Join(log.Dir(), strings.TrimPrefix(away, filepath.VolumeName(away)))
	if err := errors.Join(os.MkdirAll(filepath.Dir(here), 0o755), os.WriteFile(here, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, say := range []func(string){func(line string) { said = append(said, line) }, nil} {
		r, err := withFoundFiles(log, runOn(table.Table{Path: away}), say)
		if err != nil || r.Task.Value.(table.Table).Path != here {
			t.Errorf("%+v, %v", r.Task.Value, err)
		}
	}
	if want := []string{log.Dir() + ": " + away + " is not where it was: using " + here}; !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	said = nil
	if r, err := withFoundFiles(log, runOn(table.Table{Path: here}), func(line string) { said = append(said, line) }); err != nil || r.Task.Value.(table.Table).Path != here || said != nil {
		t.Errorf("where they were: %+v, %q, %v", r.Task.Value, said, err)
	}
}

// A checkpoint without digests of its data is noted if there are data to have digests of.
func TestUnsealedData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(strings.Repeat("abcab\nba", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task  task.Definition
		notes int
	}{{algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}}, 0}, {text.Text{Path: path, Length: 8, HeldOut: 0.3}, 1}} {
		opened, err := OpenTask(t.Context(), runOn(c.task), nil)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		run := openRun{data: opened, callbacks: Callbacks{Log: func(line string) { said = append(said, line) }}}
		if err := run.checkData(&runlog.Checkpoint{Step: 3}); err != nil || len(said) != c.notes {
			t.Errorf("%s: it says %q, %v", c.task, said, err)
		}
	}
}

// Checkpoints are listed from the first update on.
func TestInfoListsCheckpoints(t *testing.T) {
	log := emptyRun(t)
	for i, want := range []string{"[]", "[1]", "[1 2]"} {
		if err := log.SaveCheckpoint(int64(i), &runlog.Checkpoint{}, 0); err != nil {
			t.Fatal(err)
		}
		if info, err := ReadInfo(log.Dir()); err != nil || fmt.Sprint(info.Checkpoints) != want || info.Checkpoints == nil || info.Step != int64(i) {
			t.Errorf("with checkpoints up to step %d: %+v, %v", i, info, err)
		}
	}
}

// A run whose only checkpoint is damaged is damaged.
func TestInfoOfADamagedCheckpoint(t *testing.T) {
	log := emptyRun(t)
	if err := errors.Join(log.SaveCheckpoint(1, &runlog.Checkpoint{}, 0), os.WriteFile(log.CheckpointPath(1), []byte("rubbish"), 0o600)); err != nil {
		t.Fatal(err)
	}
	i := Info{}
	refused(t, "the only checkpoint", i.readCheckpoints(log), "step-000000001.safetensors")
}

// What depends on a checkpoint is 0 if it does not say; a run without its vocabulary is damaged once it has a checkpoint.
func TestInfoWithoutFiles(t *testing.T) {
	m := &Model{checkpoint: &runlog.Checkpoint{Meta: map[string]string{training.StateKey: "?"}}}
	if m.TrainingSeconds() != 0 || m.Parameters() != 0 {
		t.Errorf("%v seconds, %d parameters", m.TrainingSeconds(), m.Parameters())
	}
	copier, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer copier.Close()
	if copier.TrainingSeconds() < 1 || copier.Parameters() != 5986 { // of about a minute
		t.Errorf("%v seconds, %d parameters", copier.TrainingSeconds(), copier.Parameters())
	}
	dir := filepath.Join(t.TempDir(), "copier")
	if err := errors.Join(os.CopyFS(dir, os.DirFS("testdata/copier")), os.Remove(filepath.Join(dir, "vocabulary.json"))); err != nil {
		t.Fatal(err)
	}
	if i, err := ReadInfo(dir); err != nil || i.Status != Damaged || !strings.Contains(i.Problem, "vocabulary.json") || len(i.Checkpoints) != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	for _, name := range []string{"checkpoints", "best.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if i, err := ReadInfo(dir); err != nil || i.Status != Interrupted || i.Problem != "" || i.Step != 0 || i.Best != nil || i.Newest != nil {
		t.Errorf("before the first checkpoint %+v, %v", i, err)
	}
}

// A change before the first checkpoint is one from step 0 on.
func TestChangeBeforeTheFirstCheckpoint(t *testing.T) {
	run, log := runOn(text.Text{Path: "text"}), emptyRun(t)
	longer := run
	longer.Training.Steps++
	for step, from := range []*runlog.Checkpoint{nil, {Step: 1}} {
		open := openRun{run: longer, log: log, from: from}
		if err := open.change(run, open.step(), []string{"training.steps=more"}); err != nil {
			t.Fatal(err)
		}
		recorded, err := readChanges(log)
		if err != nil || len(recorded.Changes) != step+1 || recorded.Changes[step].Step != int64(step) || recorded.Changes[step].Before != run.Digest() || recorded.Changes[step].After != longer.Digest() {
			t.Errorf("recorded is %+v, %v", recorded, err)
		}
	}
}

// The weights that a run starts from are its checkpoint of update 0.
func TestInitialCheckpoint(t *testing.T) {
	open := openRun{log: emptyRun(t)}
	for _, want := range []string{"[]", "[0]"} {
		if err := open.saveInitial(); err != nil {
			t.Fatal(err)
		}
		if steps, err := open.log.Steps(); err != nil || fmt.Sprint(steps) != want {
			t.Errorf("checkpoints of steps %v, %v, want %s", steps, err, want)
		}
		open.from = &runlog.Checkpoint{}
	}
}

// threeSteps is a halting policy of another module.
type threeSteps struct{ halting.Fixed }

// A run with a type of another module is read if the type is given.
func TestReadRunWithExtension(t *testing.T) {
	copier, err := ReadRun("testdata/copier")
	if err != nil {
		t.Fatal(err)
	}
	model := copier.Model.Value.(experiment.EncoderDecoder)
	model.Halting.Value = threeSteps{halting.Fixed{Steps: 3}}
	copier.Model.Value = model
	log, err := runlog.Create(filepath.Join(t.TempDir(), "run"), copier)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	var missing *experiment.MissingTypeError
	if _, err := readRun(log, experiment.Extensions{}); !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), filepath.Join(log.Dir(), "config.json")+": ") {
		t.Errorf("without the type: %v", err)
	}
	if i, err := ReadInfo(log.Dir()); err != nil || i.Problem != "" || i.Experiment != copier.Name || i.Steps != copier.Training.Steps || i.Model != "" {
		t.Errorf("without the type: %+v, %v", i, err)
	}
	r, err := readRun(log, experiment.Extensions{Halting: []halting.Policy{threeSteps{}}})
	if err != nil || r.Model.Value.(experiment.EncoderDecoder).Halting.Value != (threeSteps{halting.Fixed{Steps: 3}}) {
		t.Errorf("%+v, %v", r.Model.Value, err)
	}
}

// As many steps as are done already may be set, and no fewer.
func TestFewestSteps(t *testing.T) {
	run := runOn(text.Text{Path: "text"})
	for steps, want := range map[int64]string{7: "", 6: "", 5: "training.steps is 5, but update 6 is done already: set more updates"} {
		run.Training.Steps = steps
		refused(t, steps, checkSteps(run, 6), want)
	}
}

// The warm-up of a cosine begins before the last update, in a new run as in one that is only checked. A run directory whose configuration says
// otherwise, as those of earlier versions may, can be given more steps.
// Caught when planted: the last update itself taken for one before it.
func TestLatestStart(t *testing.T) {
	run := runOn(algorithmic.Copy{})
	run.Training.Steps = 6
	const want = "training.schedule.start is 6, but training.steps is 6, so that the warm-up would never begin: set more updates or an earlier start"
	for start := range int64(7) {
		run.Training.Schedule.Value = schedule.Cosine{Peak: 1e-3, Start: start}
		expected := ""
		if start == 6 {
			expected = want
		}
		refused(t, start, checkStart(run), expected)
	}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	_, err := Train(t.Context(), nil, run, t.TempDir(), Callbacks{})
	refused(t, "a new run", err, want)
	_, err = Check(t.Context(), run, Protocol{}, nil)
	refused(t, "a run to check", err, want)
}
