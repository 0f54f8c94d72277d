package pipeline_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/table"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// fileContent returns the content of a file.
func fileContent(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fullDisk makes writing the files fail whose names begin with a prefix, until the returned function is called.
func fullDisk(prefix string) (restore func()) {
	before := atomicfile.Sync
	atomicfile.Sync = func(f *os.File) error {
		if file, ok := atomicfile.Unfinished(filepath.Base(f.Name())); ok && strings.HasPrefix(file, prefix) {
			return syscall.ENOSPC
		}
		return before(f)
	}
	return func() { atomicfile.Sync = before }
}

// A setting that is wrong for the data, and a disk that is full before anything is computed, leave no run directory, so that the corrected
// command can use it. The first is an error that names the field.
// Caught when planted: the batches made in the run directory; a run that stays.
func TestRunThatFailsLeavesNothing(t *testing.T) {
	r, dir, backend := brief(t, pairs()), filepath.Join(t.TempDir(), "run"), enginetest.Backend(t)
	wrong := r
	wrong.Training.Batch.Rows, wrong.Training.Batch.Tokens = 0, 1_000_000
	_, err := pipeline.Train(t.Context(), backend, wrong, dir, pipeline.Callbacks{})
	if err == nil || !strings.HasPrefix(err.Error(), "training.batch.tokens is 1000000: ") {
		t.Errorf("too many tokens: %v", err)
	}
	gone := func() {
		t.Helper()
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the run directory is left: %v", err)
		}
	}
	gone()
	for _, file := range []string{"paths.json", "vocabulary.json"} {
		restore := fullDisk(file)
		_, err := pipeline.Train(t.Context(), backend, r, dir, pipeline.Callbacks{})
		restore()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s on a full disk: %v", file, err)
		}
		gone()
	}
	m, err := pipeline.Load(copierDir, backend)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, file := range []string{"vocabulary.json", "step-", "best.json"} {
		restore := fullDisk(file)
		err := m.ExportRun(dir)
		restore()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("export of %s to a full disk: %v", file, err)
		}
		gone()
	}
	if err := m.ExportRun(dir); err != nil {
		t.Errorf("then with room: %v", err)
	}
}

// A run that diverges before its first checkpoint is continued from its beginning with a lower rate.
// Caught when planted: its directory removed; a status that the resumed run keeps.
func TestRunThatDivergesAtOnce(t *testing.T) {
	r, dir, backend := brief(t, pairs()), filepath.Join(t.TempDir(), "run"), enginetest.Backend(t)
	r.Training.Schedule.Value = schedule.Constant{LearningRate: 1e30}
	r.Training.ClipNorm = 0
	_, err := pipeline.Train(t.Context(), backend, r, dir, pipeline.Callbacks{})
	var diverged *training.DivergedError
	if !errors.As(err, &diverged) || diverged.Saved != -1 || diverged.Broken != "" {
		t.Fatalf("%v", err)
	}
	if i, err := pipeline.ReadInfo(dir); err != nil || i.Status != pipeline.Diverged || i.Diverged != diverged.Step {
		t.Errorf("the run is %+v, %v", i, err)
	}
	if _, err := pipeline.Resume(t.Context(), backend, dir, pipeline.Callbacks{}, "training.schedule.rate=0.001"); err != nil {
		t.Errorf("with a lower rate: %v", err)
	}
	if i, err := pipeline.ReadInfo(dir); err != nil || i.Status != pipeline.Finished || i.Diverged != 0 {
		t.Errorf("then the run is %+v, %v", i, err)
	}
}

// A directory that holds a run is refused before data are read, which may take long: here they are gone.
// Caught when planted: the directory looked at after the data.
func TestTrainWhereARunIs(t *testing.T) {
	dir, r := briefly(t)
	r.Task = experiment.Task{Value: table.Table{Path: filepath.Join(dir, "missing.tsv"), HeldOut: 0.3}}
	said := func(line string) { t.Errorf("said %q", line) }
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{Log: said}); !errors.Is(err, runlog.ErrExists) {
		t.Errorf("%v, want %v", err, runlog.ErrExists)
	}
}

// undefined is a policy of another module whose output is no number.
type undefined struct{ halting.Fixed }

func (u undefined) Unroll(scope *model.Scope, r halting.Recurrence) halting.Outcome {
	o := u.Fixed.Unroll(scope, r)
	o.State = graph.Log(graph.AddScalar(graph.MulScalar(o.State, 0), -1))
	return o
}

// A loss that is no number with the initial weights is not put down to the learning rate, and the directory can be used for the corrected run.
// Caught when planted: the directory kept; the learning rate named.
func TestLossOfTheInitialWeights(t *testing.T) {
	r, dir, backend := brief(t, pairs()), filepath.Join(t.TempDir(), "run"), enginetest.Backend(t)
	_, err := pipeline.Train(t.Context(), backend, r.WithPolicy(undefined{halting.Fixed{Steps: 2}}), dir, pipeline.Callbacks{})
	var diverged *training.DivergedError
	if !errors.As(err, &diverged) || !diverged.Initial || err.Error() != "training stopped at update 1: the loss is NaN with the initial weights, before any update, "+
		"so the learning rate is not the cause: check the data, the model and its halting policy" {
		t.Errorf("%v", err)
	}
	if _, err := pipeline.Train(t.Context(), backend, r, dir, pipeline.Callbacks{}); err != nil {
		t.Errorf("then with a policy that works: %v", err)
	}
}
