package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"universal-transformer/internal/parallel"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// A run with a stopping criterion may end before its last update, so that the remaining time is at most what is shown.
// Caught when planted: patience alone; every run.
func TestMayEndEarly(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(copierRun(t), "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	const none = `"stop": {`
	at := strings.Index(string(data), none)
	end := at + strings.Index(string(data)[at:], "}")
	for stop, want := range map[string]bool{
		`"patience": 0, "accuracy": 0`: false, `"patience": 3, "accuracy": 0`: true, `"patience": 0, "accuracy": 0.9`: true, `"patience": 0, "accuracy": 0, "perfect": 2`: true,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(string(data)[:at+len(none)]+stop+string(data)[end:]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := mayEndEarly(dir); got != want {
			t.Errorf("%s: %v, want %v", stop, got, want)
		}
	}
}

// An interrupt while the data are read does not promise that an update is finished: there is none. With several ranks, it says that it waits
// for the others. Caught when planted: a message that names the update in any case.
func TestInterruptedWhileReading(t *testing.T) {
	for want, group := range map[string]*parallel.Group{
		"the current update, if one has begun":                    nil,
		"all ranks end after the current update and save, unless": parallel.Local(2)[0],
	} {
		interruptedWhileReading(t, group, want)
	}
}

func interruptedWhileReading(t *testing.T, group *parallel.Group, want string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	messages, stderr := io.Pipe()
	c := &cobra.Command{}
	c.SetContext(ctx)
	c.SetErr(stderr)
	lines := bufio.NewScanner(messages)
	_, err := trainWatched(c, group, t.TempDir(), nil, func(ctx context.Context, _ pipeline.Callbacks) (training.Summary, error) {
		cancel()
		for lines.Scan() && lines.Text() == "" {
		}
		return training.Summary{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(lines.Text(), "interrupted: ") || !strings.Contains(lines.Text(), want) {
		t.Errorf("%q, %v", lines.Text(), err)
	}
}
