package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/internal/regularfile"
	"universal-transformer/runlog"
)

// runFiles is what a run directory holds.
var runFiles = []string{"config.json", "vocabulary.json", "tokenizer.json", "changes.json", "sessions.json", "metrics.jsonl", "best.json", "checkpoints", "traces", "export", "lock"}

// clearDemo removes the demo run in dir, if there is one that no process writes. A directory that holds a run of anything
// else, or other files beside the run, is an error and stays as it is; one that holds no run is left to training to judge.
func clearDemo(dir string) error {
	config, err := regularfile.Read(filepath.Join(dir, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, wrong := os.Stat(dir); wrong != nil || !info.IsDir() {
		return nil // nor is it a directory
	}
	if err != nil {
		return err
	}
	var holds struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(config, &holds); err != nil || holds.Name != "demo" {
		return fmt.Errorf("%s holds a run that is no demo (its name is %q): choose another directory with --out", dir, holds.Name)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(runFiles, e.Name()) && !(strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp")) {
			return fmt.Errorf("%s holds a demo run, but also %s: remove that, or choose another directory with --out", dir, e.Name())
		}
	}
	log, err := runlog.Resume(dir) // no other process writes it
	if errors.Is(err, runlog.ErrInUse) {
		return err
	}
	if err == nil {
		defer log.Close()
	}
	return os.RemoveAll(dir)
}
