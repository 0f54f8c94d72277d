//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGINT, SIGTERM and SIGHUP end training after the current update: the state is saved, the exit code is 130, and one line says how to
// resume. The resumed run has the result of an uninterrupted one.
func TestInterrupt(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	succeeds(t, killed(whole)...)
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			if ossignal.Ignored(signal) {
				t.Skip("the tests themselves run with it ignored, as under nohup; so does what they start")
			}
			dir, code, last := interrupted(t, signal, killed)
			if code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if !strings.HasPrefix(last, "ut: interrupted after update ") || !strings.Contains(last, "train --resume "+dir+" --backend ") {
				t.Errorf("the last line is %q", last)
			}
			succeeds(t, "train", "--resume", dir)
			sameRun(t, whole, dir)
		})
	}
}

// interrupted runs the program with the arguments for a new directory, and sends a signal after its first output. It returns the
// directory, the exit code and the last line. If the program succeeds, as it may before the signal on a busy machine, it tries again.
func interrupted(t *testing.T, signal syscall.Signal, args func(dir string) []string) (dir string, code int, last string) {
	t.Helper()
	for range 10 {
		dir = filepath.Join(t.TempDir(), "interrupted")
		if code, last = interruptedIn(t, signal, args(dir)); code != 0 {
			break
		}
	}
	return dir, code, last
}

// interruptedIn runs the program and sends a signal after its first output. It returns the exit code and the last line.
func interruptedIn(t *testing.T, signal syscall.Signal, args []string) (code int, last string) {
	t.Helper()
	c := exec.Command(program, args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for sent := false; lines.Scan(); last = lines.Text() {
		if !sent {
			sent = true
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode(), last
}

// A program started with SIGHUP ignored, as by nohup, survives the end of the terminal.
// Caught when planted: a signal that is handled nevertheless.
func TestNohup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	c := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh", program}, killed(dir)...)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for sent := false; lines.Scan(); {
		if !sent {
			sent = true
			if err := c.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// Training continues to its end after the reader of its output has ended, as in a pipe to head.
// Caught when planted: a broken pipe that ends it.
func TestNobodyReads(t *testing.T) {
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	succeeds(t, killed(whole)...)
	c := exec.Command(program, killed(dir)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stderr.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	sameRun(t, whole, dir)
}

// Ctrl-C ends an answer: the partial answer is a complete line, the exit code is 130, and one line says why.
// Caught when planted: a context that is ignored while decoding; a line that is not ended.
func TestInterruptDecode(t *testing.T) {
	c := exec.Command(program, "decode", trained(t), "--sample", "--temperature", "100", "--max-length", "1000000")
	in, err := c.StdinPipe() // stays open, so that the program cannot end before the signal
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go io.WriteString(in, strings.Repeat("1234\n", 10*maxLines))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	first := make([]byte, 1)
	if _, err := io.ReadFull(out, first); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 || said.String() != "ut: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
	if !strings.HasSuffix(string(first)+string(rest), "\n") {
		t.Errorf("the answers end in the middle of a line: %q", rest)
	}
}

// Ctrl-C saves a grid of runs; the same command continues it and gives the same results.
func TestInterruptedExperiment(t *testing.T) {
	data := stories(t)
	whole := t.TempDir()
	args := func(out string) []string { return gridded(data, out, "--set", "training.steps=200") }
	want := succeeds(t, args(whole)...)
	broken, code, last := interrupted(t, syscall.SIGINT, args)
	if code != 130 || last != "ut: interrupted: all runs are saved; the same command continues" {
		t.Errorf("exit code %d, %q", code, last)
	}
	errors := regexp.MustCompile(`validation error .* questions`)
	got := succeeds(t, args(broken)...)
	if a, b := errors.FindAllString(got, -1), errors.FindAllString(want, -1); len(a) != 2 || !slices.Equal(a, b) {
		t.Errorf("interrupted it comes to %q, without to %q", a, b)
	}
}

// A pipe in place of a file is refused at once, wherever a file is read: a program that waits for somebody to write looks as if it hung.
// Caught when planted: a file that is opened before it is looked at.
func TestPipesAreRefused(t *testing.T) {
	const run, data = "{run}", "{data}" // a run directory of which a file is a pipe, and a pipe
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"decode", run}, {"eval", run}, {"trace", run, "--input", "12"}, {"answer", run}, {"train", "--resume", run},
		{"eval", trained(t), "--data", data},
		{"data", "sample", "own-pairs", "--set", "task.table.path=" + data},
		{"train", "own-pairs", "--set", "task.table.path=" + data, "--out", filepath.Join(t.TempDir(), "new")},
		{"train", "own-text", "--set", "task.text.path=" + data, "--out", filepath.Join(t.TempDir(), "new")},
		{"train", "--config", data},
		{"sweep", data},
		{"table", "run", "1", "--rows", "babi-1k-single", "--data", data, "--runs", filepath.Join(t.TempDir(), "runs")},
		{"bleu", data, data},
		{"tokenizer", "encode", data},
	} {
		names := []string{""}
		if slices.Contains(args, run) {
			names = []string{"config.json", "vocabulary.json"}
		}
		for _, name := range names {
			t.Run(strings.TrimSpace(strings.Join(args[:2], " ")+" "+name), func(t *testing.T) {
				dir := ""
				if name != "" {
					dir = copied(t)
					instead := filepath.Join(dir, name)
					if err := errors.Join(os.Remove(instead), syscall.Mkfifo(instead, 0o644)); err != nil {
						t.Fatal(err)
					}
				}
				replace, args := strings.NewReplacer(run, dir, data, pipe), slices.Clone(args)
				for i, arg := range args {
					args[i] = replace.Replace(arg)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				said, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
				want := " is a pipe: name a file"
				if name != "" {
					want = filepath.Join(dir, name) + ": damaged: it is a pipe: restore the file"
				}
				if err == nil || !strings.Contains(string(said), want) {
					t.Errorf("%v, %q", err, said)
				}
			})
		}
	}
}

// A grid of runs continues to its end after the reader of its output has ended.
// Caught when planted: a broken pipe that ends it.
func TestNobodyReadsExperiment(t *testing.T) {
	data := stories(t)
	for name, shell := range map[string]string{"output": `"$@" | true`, "errors": `"$@" 2>&1 >/dev/null | true`} {
		out := t.TempDir()
		if said, err := exec.Command("sh", append([]string{"-c", shell, "sh", program}, gridded(data, out)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, said)
		}
		if results, _ := filepath.Glob(filepath.Join(out, "runs", "results", "*", "*.json")); len(results) != 2 {
			t.Errorf("%s: the results are %q", name, results)
		}
	}
}

// A limit of open files that is too low gives a message instead of a stack trace.
// Caught when planted: a limit that is not checked.
func TestFewFiles(t *testing.T) {
	for _, limit := range []string{"4", "6", "7", "15"} {
		said, err := exec.Command("sh", "-c", `ulimit -n `+limit+`; exec "$@"`, "sh", program, "list").CombinedOutput()
		if want := "ut: the limit of open files is " + limit + ", and 16 are needed: raise the limit (ulimit -n)\n"; err == nil || string(said) != want {
			t.Errorf("%v, %q, want %q", err, said, want)
		}
	}
}

// An address space that is too small for Go gives a message instead of a stack trace.
// Caught when planted: a limit that is not checked.
func TestLittleAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the address space")
	}
	said, err := exec.Command("sh", "-c", `ulimit -v 1400000; exec "$@"`, "sh", program, "list").CombinedOutput()
	if want := "ut: at most 1400000 kB of address space may be used here, and 1500000 are needed: raise the limit (ulimit -v)\n"; err == nil || string(said) != want {
		t.Errorf("%v, %q, want %q", err, said, want)
	}
}
