package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"universal-transformer/internal/regularfile"
	"universal-transformer/runlog"
)

// runFiles lists the files of a run directory.
var runFiles = []string{"config.json", "vocabulary.json", "tokenizer.json", "changes.json", "sessions.json", "paths.json", "metrics.jsonl", "best.json", "checkpoints", "traces", "export", "lock"}

// clearDemo removes the demo run in dir, unless another process writes it. A directory with another run, or with further files, is an
// error and remains unchanged. A directory without a run is left to training to check.
func clearDemo(dir string) error {
	config, err := regularfile.Read(filepath.Join(dir, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, wrong := os.Stat(dir); wrong != nil || !info.IsDir() {
		return nil // training reports that dir is not a directory
	}
	if err != nil {
		return err
	}
	var holds struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(config, &holds); err != nil || holds.Name != "demo" {
		return fmt.Errorf("%s holds a run that is not the demo (its name is %q): choose another directory with --out", dir, holds.Name)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(runFiles, e.Name()) && !runlog.IsEventFile(e.Name()) && !runlog.IsUnfinished(e.Name()) {
			return fmt.Errorf("%s holds a demo run, but also %s: remove that, or choose another directory with --out", dir, e.Name())
		}
	}
	log, err := runlog.Resume(dir) // locks the run against other processes
	if errors.Is(err, runlog.ErrInUse) {
		return err
	}
	if err == nil {
		defer log.Close()
	}
	return os.RemoveAll(dir)
}
