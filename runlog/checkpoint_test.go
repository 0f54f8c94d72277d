package runlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

// checkpoint is one whose content says its step.
func checkpoint(t *testing.T, step int64) *runlog.Checkpoint {
	t.Helper()
	x, err := safetensors.New("encoder.weight", []int{3}, []float64{float64(step), 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	return &runlog.Checkpoint{Step: step, Meta: map[string]string{"position": fmt.Sprintf(`{"window":%d}`, step)}, Tensors: []safetensors.Tensor{x}}
}

func save(t *testing.T, r *runlog.Run, keep int, steps ...int64) {
	t.Helper()
	for _, s := range steps {
		if err := r.SaveCheckpoint(s, checkpoint(t, s), keep); err != nil {
			t.Fatal(err)
		}
	}
}

func there(t *testing.T, r *runlog.Run, want ...int64) {
	t.Helper()
	if got, err := r.Steps(); err != nil || !slices.Equal(got, want) {
		t.Errorf("there are checkpoints of %v, %v, want %v", got, err, want)
	}
}

func TestCheckpointRoundTrip(t *testing.T) {
	r := create(t)
	if _, _, err := r.Latest(); !errors.Is(err, runlog.ErrNoCheckpoint) {
		t.Errorf("Latest of a new run: %v", err)
	}
	if _, err := r.Best(); !errors.Is(err, runlog.ErrNoCheckpoint) {
		t.Errorf("Best of a new run: %v", err)
	}
	save(t, r, 0, 5, 1_000_000_007, 30)
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	c, refused, err := reader.Latest()
	if err != nil || len(refused) != 0 || !reflect.DeepEqual(c, checkpoint(t, 1_000_000_007)) {
		t.Errorf("latest is %+v, %v, %v", c, refused, err)
	}
	if c, err := reader.Load(5); err != nil || !reflect.DeepEqual(c, checkpoint(t, 5)) {
		t.Errorf("step 5 is %+v, %v", c, err)
	}
	f, err := safetensors.Decode([]byte(content(t, r.CheckpointPath(5)))) // any reader of the format can
	if err != nil || f.Metadata["version"] != runlog.Version() || f.Metadata["step"] != "5" {
		t.Errorf("as safetensors: %v, %v", f, err)
	}
}

func TestCheckpointRefuses(t *testing.T) {
	r := create(t)
	for _, key := range []string{"step", "version", "sha256"} {
		if err := r.SaveCheckpoint(1, &runlog.Checkpoint{Meta: map[string]string{key: "x"}}, 1); err == nil {
			t.Errorf("meta key %q is accepted", key)
		}
	}
	if err := errors.Join(r.SaveCheckpoint(-1, checkpoint(t, 1), 1)); err == nil {
		t.Error("step -1 is accepted")
	}
	if err := errors.Join(r.SaveCheckpoint(1, checkpoint(t, 1), -1)); err == nil {
		t.Error("keep -1 is accepted")
	}
	there(t, r)
}

// A checkpoint of which any one byte is another, or that ends anywhere before its end, or that goes on, is
// refused, and the one before it is used.
func TestDamagedCheckpointIsRefused(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10, 20)
	path := r.CheckpointPath(20)
	whole := []byte(content(t, path))
	refuse := func(what string, damaged []byte) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		c, refused, err := r.Latest()
		if err != nil || c.Step != 10 || len(refused) != 1 || refused[0].Path != path || refused[0].Reason == "" || strings.Contains(refused[0].Reason, path) {
			t.Fatalf("%s: latest %+v, refused %v, %v", what, c, refused, err)
		}
	}
	for i := range whole {
		for _, flip := range []byte{1, 0x20, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= flip
			refuse(fmt.Sprintf("byte %d ^ %#x", i, flip), damaged)
		}
		refuse(fmt.Sprintf("cut at %d", i), whole[:i])
	}
	refuse("longer", append(bytes.Clone(whole), 0))
	other := []byte(content(t, r.CheckpointPath(10)))
	refuse("another step's", other)
	if err := os.Remove(r.CheckpointPath(10)); err != nil {
		t.Fatal(err)
	}
	if _, refused, err := r.Latest(); !errors.Is(err, runlog.ErrNoCheckpoint) || len(refused) != 1 {
		t.Errorf("with nothing else left: %v, %v", refused, err)
	}
}

func TestKeep(t *testing.T) {
	r := create(t)
	save(t, r, 2, 10, 20, 30)
	there(t, r, 20, 30)
	if err := r.MarkBest(20); err != nil {
		t.Fatal(err)
	}
	save(t, r, 2, 40, 50, 60)
	there(t, r, 20, 50, 60)
	if c, err := r.Best(); err != nil || c.Step != 20 {
		t.Errorf("best is %+v, %v", c, err)
	}
	if err := r.MarkBest(60); err != nil {
		t.Fatal(err)
	}
	save(t, r, 1, 70)
	there(t, r, 60, 70)
	if err := r.MarkBest(50); err == nil {
		t.Error("a checkpoint that is gone is marked as best")
	}
	if c, err := r.Best(); err != nil || c.Step != 60 {
		t.Errorf("best is %+v, %v", c, err)
	}
}

// A resume that passes over a damaged newer checkpoint must not lose its own to it.
func TestLaterCheckpointsDoNotCount(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10, 20, 99)
	save(t, r, 1, 30)
	there(t, r, 30, 99)
}

func TestTruncateRemovesLaterCheckpoints(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10, 20, 30)
	if err := r.MarkBest(20); err != nil {
		t.Fatal(err)
	}
	if err := r.Truncate(20); err != nil {
		t.Fatal(err)
	}
	there(t, r, 10, 20)
	if c, err := r.Best(); err != nil || c.Step != 20 {
		t.Errorf("best is %+v, %v", c, err)
	}
	if err := r.Truncate(15); err != nil {
		t.Fatal(err)
	}
	there(t, r, 10)
	save(t, r, 0, 20) // again, but not yet known to be the best
	if _, err := r.Best(); !errors.Is(err, runlog.ErrNoCheckpoint) {
		t.Errorf("the best was removed, and Best says %v", err)
	}
}

// A mark of a later step goes and one of the step itself or before stays, whatever lies between, and also if the marked checkpoint
// is damaged, so that it is set aside.
// Caught when planted: a mark that stays, one of the next step that stays.
func TestTruncateRemovesLaterMarks(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		for best := int64(1); best <= 4; best++ {
			for last := int64(1); last <= 4; last++ {
				r := create(t)
				save(t, r, 0, 1, 2, 3, 4)
				if err := r.MarkBest(best); err != nil {
					t.Fatal(err)
				}
				if damaged {
					if err := os.WriteFile(r.CheckpointPath(best), []byte("damaged"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.Truncate(last); err != nil {
					t.Fatal(err)
				}
				if got, marked, err := r.Marked(); err != nil || marked != (best <= last) || marked && got != best {
					t.Errorf("damaged %v, step %d marked, truncated to %d: the mark is of step %d, %v, %v", damaged, best, last, got, marked, err)
				}
			}
		}
	}
}

// Equal checkpoints are equal files, so that runs can be compared by their bytes.
func TestCheckpointBytesAreDeterministic(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10)
	first := content(t, r.CheckpointPath(10))
	save(t, r, 0, 10)
	if again := content(t, r.CheckpointPath(10)); again != first {
		t.Error("the same checkpoint gives other bytes")
	}
	if leftovers, _ := filepath.Glob(filepath.Join(r.Dir(), "checkpoints", ".*")); len(leftovers) > 0 {
		t.Errorf("left over: %v", leftovers)
	}
}

// A checkpoint that cannot be read is not damaged: resuming stops with its name, and everything stays.
func TestUnreadableCheckpointIsNotDamaged(t *testing.T) {
	r := create(t)
	appendRows(t, r, 10, 20)
	save(t, r, 0, 10)
	before := content(t, metricsPath(r))
	path := r.CheckpointPath(20)
	makeUnreadable(t, path)
	if c, refused, err := r.Latest(); err == nil || errors.Is(err, runlog.ErrNoCheckpoint) || errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("latest is %v, %v, %v", c, refused, err)
	}
	if err := r.Truncate(0); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Truncate: %v", err)
	}
	there(t, r, 10, 20)
	if got := content(t, metricsPath(r)); got != before {
		t.Errorf("metrics are %q, want %q", got, before)
	}
}

// Damaged checkpoints are set aside, never removed, also when one was set aside before.
func TestTruncateSetsDamagedCheckpointsAside(t *testing.T) {
	r := create(t)
	for _, damage := range []string{"first", "second"} {
		save(t, r, 0, 10, 20)
		if err := os.WriteFile(r.CheckpointPath(20), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.Truncate(10); err != nil {
			t.Fatal(err)
		}
		there(t, r, 10)
	}
	for name, want := range map[string]string{".damaged": "first", ".damaged-2": "second"} {
		if got := content(t, r.CheckpointPath(20)+name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

func TestStrayFilesAreNoCheckpoints(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10)
	for _, name := range []string{"step-20.safetensors", "step-+00000020.safetensors", "step-0000000020.safetensors", "notes.txt", "step-000000030.safetensors.damaged"} {
		if err := os.WriteFile(filepath.Join(r.Dir(), "checkpoints", name), []byte("stray"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there(t, r, 10)
	if c, refused, err := r.Latest(); err != nil || c.Step != 10 || len(refused) > 0 {
		t.Errorf("latest is %v, %v, %v", c, refused, err)
	}
	if err := r.Truncate(10); err != nil {
		t.Error(err)
	}
}

// A directory that is removed, or replaced by another, while it is written is an error that says so, and not made again.
func TestDirectoryIsRemoved(t *testing.T) {
	for name, replace := range map[string]func(dir string) error{
		"removed":  func(string) error { return nil },
		"replaced": func(dir string) error { return os.CopyFS(dir, os.DirFS(dir+".moved")) },
	} {
		r := create(t)
		appendRows(t, r, 1)
		if err := os.Rename(r.Dir(), r.Dir()+".moved"); err != nil {
			t.Skip(err)
		}
		if err := replace(r.Dir()); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"a line": r.AppendMetrics(row{Step: 2}), "a checkpoint": r.SaveCheckpoint(2, checkpoint(t, 2), 1)} {
			if err == nil || !strings.Contains(err.Error(), r.Dir()+" was removed or replaced") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// A mark that names a checkpoint that is gone is told from no mark, and a mark that is damaged from both.
func TestBestIsMissing(t *testing.T) {
	r := create(t)
	if _, err := r.Best(); !errors.Is(err, runlog.ErrNotMarked) {
		t.Errorf("no mark: %v", err)
	}
	save(t, r, 0, 10)
	if err := errors.Join(r.MarkBest(10), os.Remove(r.CheckpointPath(10))); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Best(); errors.Is(err, runlog.ErrNotMarked) || !errors.Is(err, runlog.ErrNoCheckpoint) || !strings.Contains(err.Error(), "best.json marks update 10") {
		t.Errorf("the marked one is gone: %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), "best.json"), []byte(`{"step": 1`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Best(); !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), "best.json") {
		t.Errorf("the mark is damaged: %v", err)
	}
}

// A mark with another digit never names another checkpoint; one of an earlier version, which has no checksum, counts.
// Caught when planted: a checksum that is not compared.
func TestBestWithAnotherDigit(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10, 11, 12, 20, 70)
	if err := r.MarkBest(10); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.Dir(), "best.json")
	whole := content(t, path)
	for i, was := range []byte(whole) {
		for digit := byte('0'); was >= '0' && was <= '9' && digit <= '9'; digit++ {
			edited := []byte(whole)
			edited[i] = digit
			if err := os.WriteFile(path, edited, 0o600); err != nil {
				t.Fatal(err)
			}
			if c, err := r.Best(); err == nil && c.Step != 10 || err != nil && !errors.Is(err, runlog.ErrDamaged) {
				t.Errorf("%s: %v, %v", edited, c, err)
			}
		}
	}
	if err := os.WriteFile(path, []byte(`{"version": "0.1.0", "step": 20}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := r.Best(); err != nil || c.Step != 20 {
		t.Errorf("an earlier version's mark: %v, %v", c, err)
	}
}
