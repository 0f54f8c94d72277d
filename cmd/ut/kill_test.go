package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine"
	"universal-transformer/internal/safetensors"
)

var (
	kills    = flag.Int("kills", 3, "how often TestKillAndResume kills training")
	trainOn  = flag.String("backend", engine.Default, "backend of TestKillAndResume")
	killSeed = flag.Uint64("kill-seed", 0, "seed of its moments; 0 takes the time")
)

// killed is a run with everything that resuming must restore: dropout, random positions, several batches per update, adaptive halting, a
// best checkpoint that is not the last one.
func killed(dir string) []string {
	return append([]string{"train", "demo", "--out", dir, "--backend", *trainOn}, tiny(
		`model.halting={"frozen": {"max_steps": 3, "epsilon": 0.01}}`,
		`model.dropout={"embedding": 0.1, "attention": 0.1, "transition": 0.1, "residual": 0.1}`,
		`model.positions={"random_offset": {"max": 12}}`, "training.accumulate=2", "training.ponder.warmup=30", "training.steps=60",
		`training.batch={"tokens": 96}`, "training.log_every=3", "training.evaluate_every=7", "training.checkpoint_every=5",
	)...)
}

// Training that is killed at any moment, and again while it resumes, has the result of uninterrupted training: the same metrics byte for
// byte, and the same weights, optimizer state and random state bit for bit.
func TestKillAndResume(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-kill-seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	whole := filepath.Join(t.TempDir(), "whole")
	start := time.Now()
	succeeds(t, killed(whole)...)
	took := time.Since(start)
	for range *kills {
		dir := filepath.Join(t.TempDir(), "killed")
		for trainKilled(t, dir, rng, took) == 0 { // it ended before it was to be killed, because the machine was busier during the first run
			took = max(took/2, 1)
			dir = filepath.Join(t.TempDir(), "killed")
		}
		sameRun(t, whole, dir)
	}
}

// trainKilled trains in dir, kills training at a random moment, resumes it, kills half of the resumed processes as well, and so on until
// training ends. It returns the number of kills that hit a running process.
func trainKilled(t *testing.T, dir string, rng *rand.Rand, longest time.Duration) (hits int) {
	t.Helper()
	for args := killed(dir); ; hits++ {
		if hits > 0 && rng.IntN(2) == 0 {
			succeeds(t, args...)
			return hits
		}
		moment := time.Duration(rng.Int64N(int64(longest)))
		if ended := killAfter(t, moment, args); ended {
			return hits
		}
		t.Logf("killed after %v, with checkpoints %v", moment.Round(time.Millisecond), checkpoints(t, dir))
		if _, err := os.Stat(filepath.Join(dir, "config.json")); err == nil { // else it was too early for a run to be there
			args = []string{"train", "--resume", dir, "--backend", *trainOn}
		}
	}
}

// killAfter runs the program and kills it after a while. It reports whether the program had ended by itself.
func killAfter(t *testing.T, moment time.Duration, args []string) (ended bool) {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(moment, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	if c.ProcessState.Exited() && c.ProcessState.ExitCode() != 0 {
		t.Fatalf("ut %s failed:\n%s", strings.Join(args, " "), &stderr)
	}
	return c.ProcessState.Exited()
}

// checkpoints returns the names of a run's checkpoints, in order.
func checkpoints(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "checkpoints"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A truncated checkpoint, or one with a changed bit, is rejected by name, its predecessor is used, and training has the result of an
// undamaged run.
func TestDamagedCheckpoints(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	succeeds(t, killed(whole)...)
	for name, damage := range map[string]func([]byte) []byte{
		"cut short":   func(data []byte) []byte { return data[:len(data)*2/3] },
		"empty":       func([]byte) []byte { return nil },
		"bit changed": func(data []byte) []byte { data[len(data)/2] ^= 1 << 4; return data },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			names := checkpoints(t, dir)
			last := filepath.Join(dir, "checkpoints", names[len(names)-1])
			data, err := os.ReadFile(last)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(last, damage(data), 0o644); err != nil {
				t.Fatal(err)
			}
			r := ut(t, "train", "--resume", dir, "--backend", *trainOn)
			var before int
			if _, err := fmt.Sscanf(names[len(names)-2], "step-%d.safetensors", &before); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{last + ": ", fmt.Sprintf("resuming from the checkpoint of update %d", before)} {
				if r.code != 0 || !strings.Contains(r.stderr, want) {
					t.Errorf("exit code %d, does not say %q:\n%s", r.code, want, r.stderr)
				}
			}
			sameRun(t, whole, dir)
		})
	}
}

// sameRun compares two run directories.
func sameRun(t *testing.T, want, got string) {
	t.Helper()
	for _, name := range []string{"metrics.jsonl", "best.json", "config.json"} {
		a, errA := os.ReadFile(filepath.Join(want, name))
		b, errB := os.ReadFile(filepath.Join(got, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v, %v):\n%s\n%s", name, errA, errB, a, b)
		}
	}
	all := checkpoints(t, want)
	final := all[len(all)-1]
	a, b := readTensors(t, filepath.Join(want, "checkpoints", final)), readTensors(t, filepath.Join(got, "checkpoints", final))
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%s has %d tensors and %d", final, len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].DType != b[i].DType || !slices.Equal(a[i].Shape, b[i].Shape) || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Errorf("%s: %s %s%v and %s %s%v differ", final, a[i].Name, a[i].DType, a[i].Shape, b[i].Name, b[i].DType, b[i].Shape)
		}
	}
}

// readTensors returns a file's tensors by name.
func readTensors(t *testing.T, path string) []safetensors.Tensor {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := safetensors.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(file.Tensors, func(a, b safetensors.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return file.Tensors
}
