package runlog_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"universal-transformer/internal/longtest"
	"universal-transformer/runlog"
)

func TestOneWriter(t *testing.T) {
	r := create(t)
	host, _ := os.Hostname()
	if _, err := runlog.Resume(r.Dir()); !errors.Is(err, runlog.ErrInUse) || !strings.Contains(err.Error(), "process ") || !strings.HasSuffix(err.Error(), host) {
		t.Errorf("a second writer: %v", err)
	}
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"AppendMetrics":  reader.AppendMetrics(map[string]int{"step": 1}),
		"Truncate":       reader.Truncate(0),
		"SaveCheckpoint": reader.SaveCheckpoint(1, &runlog.Checkpoint{}, 1),
		"MarkBest":       reader.MarkBest(1),
		"WriteJSON":      reader.WriteJSON("x.json", example),
	} {
		if err == nil || !strings.Contains(err.Error(), "open for reading") {
			t.Errorf("%s of a reader: %v", name, err)
		}
	}
	reopen(t, r)
	if _, err := runlog.Resume(t.TempDir()); !errors.Is(err, runlog.ErrNotRun) {
		t.Errorf("Resume of an empty directory: %v", err)
	}
}

// A lock file that names a process which is gone locks nothing, be its number taken by another process or not.
func TestStaleLockIsTakenOver(t *testing.T) {
	for _, number := range []string{"1\n", "999999999\n", ""} {
		r := create(t)
		r.Close()
		if err := os.WriteFile(filepath.Join(r.Dir(), "lock"), []byte(number), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := runlog.Resume(r.Dir())
		if err != nil {
			t.Fatalf("stale lock %q: %v", number, err)
		}
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := content(t, filepath.Join(r.Dir(), "lock")), fmt.Sprintf("%d\n%s\n", os.Getpid(), host); got != want {
			t.Errorf("the lock names %q, want %q", got, want)
		}
		again.Close()
	}
}

// Readers that ask all the time whether a run is in use keep no writer from it, and a second writer is refused all the same.
// Caught when planted: a writer that tries once.
func TestReadersKeepNoWriterOut(t *testing.T) {
	r := create(t)
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				reader.InUse()
			}
		})
	}
	for range longtest.Of(100, 5000) {
		writer, err := runlog.Resume(r.Dir())
		if err != nil {
			t.Error(err)
			break
		}
		if _, err := runlog.Resume(r.Dir()); !errors.Is(err, runlog.ErrInUse) {
			t.Errorf("a second writer: %v", err)
		}
		writer.Close()
	}
	done.Store(true)
	readers.Wait()
}

// A process that holds a run is killed without warning: the run can be resumed at once.
func TestKilledWriterGivesTheLockBack(t *testing.T) {
	if dir := os.Getenv("RUNLOG_HOLD"); dir != "" {
		if _, err := runlog.Create(dir, example); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("held\n")
		select {}
	}
	dir := filepath.Join(t.TempDir(), "run")
	holder := exec.Command(os.Args[0], "-test.run=^TestKilledWriterGivesTheLockBack$", "-test.timeout=1m")
	holder.Env = append(os.Environ(), "RUNLOG_HOLD="+dir)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := runlog.Resume(dir); !errors.Is(err, runlog.ErrInUse) {
		t.Errorf("while the other process lives: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait()
	r, err := runlog.Resume(dir)
	if err != nil {
		t.Fatalf("after it was killed: %v", err)
	}
	r.Close()
}

// A writer whose lock file is removed writes nothing more: another writer may have taken the run. The other one goes on.
// Caught when planted: a lock that is not looked at before a checkpoint, a row of metrics or the mark of the best is written.
func TestLostLock(t *testing.T) {
	r := create(t)
	if err := errors.Join(r.AppendMetrics(map[string]int{"step": 1}), r.SaveCheckpoint(1, &runlog.Checkpoint{}, 1), os.Remove(filepath.Join(r.Dir(), "lock"))); err != nil {
		t.Fatal(err)
	}
	attempts := func(r *runlog.Run) map[string]error {
		return map[string]error{
			"AppendMetrics": r.AppendMetrics(map[string]int{"step": 2}), "SaveCheckpoint": r.SaveCheckpoint(2, &runlog.Checkpoint{}, 2), "MarkBest": r.MarkBest(1),
		}
	}
	check := func(when string) {
		for name, err := range attempts(r) {
			if !errors.Is(err, runlog.ErrLockLost) || !strings.Contains(err.Error(), filepath.Join(r.Dir(), "lock")) {
				t.Errorf("%s, %s: %v", name, when, err)
			}
		}
	}
	check("without a lock")
	other, err := runlog.Resume(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	check("with another writer")
	for name, err := range attempts(other) {
		if err != nil {
			t.Errorf("%s of the other: %v", name, err)
		}
	}
}
