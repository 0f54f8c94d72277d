package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/table"
)

// A token that stands for unknown ones never counts as right, where the targets have one.
// Caught when planted: a trainer that does not know it.
func TestTrainerKnowsTheUnknownToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	lines := "source\ttarget\n"
	for i := range 64 {
		word := strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%06b", i))
		lines += word + "\t" + word + "\n"
	}
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task task.Definition
		has  bool
	}{{table.Table{Path: path, HeldOut: 0.3}, true}, {algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}}, false}} {
		r := runOn(c.task)
		opened, err := OpenTask(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		trainer, err := newTrainer(enginetest.Backend(t), r, opened)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if c.has { // it follows padding, End and the tokens
			want = 2 + len(opened.Vocabularies().Target.Tokens())
		}
		if got := int(trainer.Config.Objective.Unknown); got != want {
			t.Errorf("%s: the unknown token is %d, want %d", c.task, got, want)
		}
	}
}

// A trainer validates with as many examples as the configuration says, and decodes answers if it says so, be it a single one.
func TestValidationOfATrainer(t *testing.T) {
	for decoded := range 3 {
		r := runOn(algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}})
		r.Training.Validation, r.Training.Decoded = 1+2*decoded, decoded
		o := openRun{backend: enginetest.Backend(t), run: r, reading: r}
		if err := o.readData(t.Context()); err != nil {
			t.Fatal(err)
		}
		trainer, err := newTrainer(o.backend, r, o.data)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.addValidation(trainer); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, b := range trainer.Validation {
			n += b.Examples
		}
		if n != 1+2*decoded || (trainer.Decoded != nil) != (decoded > 0) || trainer.Pictures == nil {
			t.Errorf("%d validation examples, answers decoded: %v, want %d and %d answers", n, trainer.Decoded != nil, 1+2*decoded, decoded)
		}
	}
}

// Other places of the data are written to config.json, and are no change of the configuration; a configuration without changes is not written.
func TestChangeOfPlaces(t *testing.T) {
	log, before, after := emptyRun(t), runOn(table.Table{Path: "before.tsv"}), runOn(table.Table{Path: "after.tsv"})
	before.Name, after.Name = "moved", "moved"
	open := openRun{run: after, log: log}
	if err := open.change(before, 0, []string{"task.table.path=after.tsv"}); err != nil || dataOf(t, open.run) != "after.tsv" {
		t.Errorf("the data are in %s, %v", dataOf(t, open.run), err)
	}
	if r, err := readRun(log, experiment.Extensions{}); err != nil || dataOf(t, r) != "after.tsv" {
		t.Errorf("config.json has %s, %v", dataOf(t, r), err)
	}
	if recorded, err := readChanges(log); err != nil || len(recorded.Changes) > 0 {
		t.Errorf("recorded is %+v, %v", recorded, err)
	}
	if err := os.Remove(filepath.Join(log.Dir(), "config.json")); err != nil {
		t.Fatal(err)
	}
	if err := open.change(after, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := log.ReadFile("config.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("config.json is written without a change: %v", err)
	}
}

// The checkpoint of update 0 holds nothing that was trained, so it belongs to every configuration; that of update 1 does not.
func TestCheckpointBeforeTheFirstUpdate(t *testing.T) {
	r := runOn(algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}})
	open := openRun{backend: enginetest.Backend(t), run: r, reading: r, log: emptyRun(t)}
	if err := open.readData(t.Context()); err != nil {
		t.Fatal(err)
	}
	for step, want := range []string{"", "checkpoint of update 1: "} {
		if err := open.log.SaveCheckpoint(int64(step), &runlog.Checkpoint{}, 0); err != nil {
			t.Fatal(err)
		}
		refused(t, step, open.findCheckpoint(), want)
		if open.from == nil || open.from.Step != 0 {
			t.Errorf("training goes on from %+v", open.from)
		}
	}
}

// What a checkpoint is sealed with: a digest of the meaning of ids, in which one token at a position is the default, and the engine.
// Caught when planted: another number of processors in use.
func TestSeals(t *testing.T) {
	of := func(n int) string {
		return vocabularyDigest(task.Vocabularies{Target: vocabulary(t, "a b"), TokensPerPosition: n})
	}
	if of(0) != of(1) || of(1) == of(2) {
		t.Errorf("digests %s, %s and %s", of(0), of(1), of(2))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r := runOn(algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}})
	opened, err := OpenTask(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := seals(enginetest.Backend(t), r, opened)
	if want := enginetest.Backend(t).Description() + " (GOMAXPROCS 3)"; got.Engine != want || runtime.GOMAXPROCS(0) != 3 {
		t.Errorf("the engine is %q, want %q; %d processors are in use", got.Engine, want, runtime.GOMAXPROCS(0))
	}
	if source, target := opened.MaxLengths(); got.LongestSource != source || got.LongestTarget != target || got.Fingerprint != r.Fingerprint() || got.Configuration != r.Digest() || got.Data != nil {
		t.Errorf("%+v", got)
	}
}

// devices is a backend with several devices.
type devices struct{ compute.Backend }

func (devices) DeviceDescription(n compute.DeviceNum) string { return fmt.Sprint("device ", int(n)) }

// A session names the first device, and its meter stops with it.
func TestSessionEnds(t *testing.T) {
	if got := Provenance(devices{enginetest.Backend(t)}).Device; got != "device 0" {
		t.Errorf("it computes on %s", got)
	}
	before := runtime.NumGoroutine()
	s := beginSession(emptyRun(t), enginetest.Backend(t), Callbacks{})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the meter goes on")
		}
	}
}

// The memory of an estimate is that of the largest batch, whichever side is longer; its operations are those of the typical one.
func TestEstimateOfUnequalBatches(t *testing.T) {
	r := runOn(table.Table{})
	s, err := sample(t.Context(), r, Assumed{Vocabulary: 9, Length: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model.Value.Build(s.vocabularies, 1)
	small := s.batches[0]
	of := func(rows, source, target int) Estimate {
		t.Helper()
		large := small
		large.Rows, large.Examples, large.SourceLength, large.TargetLength = rows, rows, source, target
		large.Source, large.Target = slices.Repeat([]vocab.ID{2}, rows*source), slices.Repeat([]vocab.ID{2}, rows*target)
		e, whole := Estimate{Batches: 1}, Estimate{Batches: 1}
		if _, err := e.count(r, m, small, large); err != nil {
			t.Fatal(err)
		}
		if _, err := whole.count(r, m, large, large); err != nil {
			t.Fatal(err)
		}
		if ratio := float64(e.WorkBytes) / float64(whole.WorkBytes); ratio < 0.9 || ratio > 1.1 { // plans of memory differ a little
			t.Errorf("%d rows of %d and %d: %d bytes of work, alone %d", rows, source, target, e.WorkBytes, whole.WorkBytes)
		}
		return e
	}
	least := of(small.Rows, small.SourceLength, small.TargetLength)
	for _, e := range []Estimate{of(9, 4, 4), of(3, 40, 4), of(3, 4, 40)} {
		if e.Operations != least.Operations || e.Operations <= 0 || float64(e.WorkBytes) < 1.2*float64(least.WorkBytes) {
			t.Errorf("%v operations and %d bytes, of the typical batch alone %v and %d", e.Operations, e.WorkBytes, least.Operations, least.WorkBytes)
		}
	}
}

// When a run is resumed, its data may be elsewhere and what training still does may be set; other assignments are refused with the reason.
// Caught when planted: a path that is refused, or ignored beside other assignments; a field whose name begins as that of another; the error of a value before that of its field.
func TestChangedRun(t *testing.T) {
	r := runOn(table.Table{Path: "before.tsv"})
	r.Name = "changed"
	for _, c := range []struct {
		assignments []string
		path        string
		steps       int64
		want        string
	}{
		{nil, "before.tsv", r.Training.Steps, ""}, {[]string{"task.table.path=after.tsv"}, "after.tsv", r.Training.Steps, ""},
		{[]string{"training.steps=9", "task.table.path=after.tsv", "training.keep=2"}, "after.tsv", 9, ""},
		{[]string{"task.table.path=after.tsv", "seed=7"}, "", 0, "seed cannot change on resume: everything random so far depends on it; start a new run, or change one of training.steps, "},
		{[]string{"task.table.held_out=0.5"}, "", 0, "task.table.held_out cannot change on resume: the weights have learned from its data"},
		{[]string{"training.batch.rows=9"}, "", 0, "training.batch.rows cannot change on resume: the updates so far were made with it"},
		{[]string{"training.stop.patience=9", "training.schedule={\"constant\": {\"rate\": 1}}"}, "before.tsv", r.Training.Steps, ""},
		{[]string{"source_end=true"}, "", 0, "source_end cannot change on resume: the weights have learned from sources that end as before"},
		{[]string{"name=other"}, "", 0, "a run keeps its name"}, {[]string{"model.width=8"}, "", 0, "the weights are those of this model"},
		{[]string{"model.width=3"}, "", 0, "model.width cannot change on resume"}, {[]string{"training.batch.rows=0"}, "", 0, "training.batch.rows cannot change on resume"},
		{[]string{"training.steps=0"}, "", 0, "training.steps is 0"}, {[]string{"model.vidth=3"}, "", 0, `did you mean "model.width"`},
		{[]string{"training.step=9"}, "", 0, "step"},
	} {
		changed, err := changedRun(emptyRun(t), r, c.assignments)
		refused(t, c.assignments, err, c.want)
		if err == nil && (dataOf(t, changed) != c.path || changed.Training.Steps != c.steps) {
			t.Errorf("%q: %d steps on %s", c.assignments, changed.Training.Steps, dataOf(t, changed))
		}
	}
}

// Every field of a run and of its training either may change when the run is resumed, or is refused with a reason. A new field belongs in one of
// the lists. Caught when planted: source_end without a reason, training.muon among those that may change, a new field.
func TestFieldsOnResume(t *testing.T) {
	refused := []string{
		"name", "task", "source_end", "model", "training", "seed",
		"training.beta1", "training.beta2", "training.epsilon", "training.muon", "training.weight_decay", "training.decay_vectors", "training.ponder",
		"training.average", "training.clip_norm", "training.accumulate", "training.weigh_by_tokens", "training.compute_halted",
		"training.best_by_accuracy", "training.best_by_measure", "training.batch", "training.validation", "training.validation_lengths",
		"training.validation_hard", "training.pretrained", "training.decoded", "training.ponder_cost", "training.supervision", "training.label_smoothing",
		"training.r_drop",
	}
	allowed := []string{
		"training.steps", "training.schedule", "training.log_every", "training.evaluate_every", "training.checkpoint_every", "training.keep", "training.events",
		"training.stop",
	}
	fields := append(visible("", reflect.TypeFor[experiment.Run]()), visible("training.", reflect.TypeFor[experiment.Training]())...)
	for _, path := range fields {
		if slices.Contains(allowed, path) == slices.Contains(refused, path) {
			t.Errorf("%s is a new field: may it change when a run is resumed?", path)
		}
	}
	for _, path := range changeable {
		if !slices.Contains(allowed, path) || !slices.Contains(fields, path) {
			t.Errorf("%s may change, but is not among the fields that may", path)
		}
	}
	for _, path := range allowed {
		if err := checkChangeable(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range refused {
		if err := checkChangeable(path); err == nil || !strings.Contains(err.Error(), path+" cannot change on resume: ") || strings.Contains(err.Error(), "resume: start") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// visible returns the paths of the fields of a type that JSON has.
func visible(prefix string, of reflect.Type) (paths []string) {
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			paths = append(paths, prefix+name)
		}
	}
	return paths
}
