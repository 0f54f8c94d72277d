package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/regularfile"
	"universal-transformer/runlog"
)

// demoFiles lists what the demo writes to a run directory: files, and folders that end in a slash. Event files come on top.
var demoFiles = []string{"config.json", "vocabulary.json", "sessions.json", "paths.json", "metrics.jsonl", "best.json", "lock", "checkpoints/", "traces/"}

// clearDemo removes the run of the demo in dir, unless another process writes it. A directory with a run of another configuration or a changed one, or
// with further files, is an error and remains unchanged. A directory without a run is left to training to check.
func clearDemo(dir string, demo experiment.Run) error {
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
	holds, err := experiment.Decode(config)
	if err != nil || holds.Digest() != demo.Digest() {
		return fmt.Errorf("%s holds a run that this command did not write with these settings (its name is %q): choose another directory with --out", dir, holds.Name)
	}
	more, err := notOfDemo(dir)
	if err != nil {
		return err
	}
	if more != "" {
		return fmt.Errorf("%s holds a demo run, but also %s: remove that, or choose another directory with --out", dir, more)
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

// notOfDemo returns a file or folder of a run directory that the demo does not write; "" if there is none.
func notOfDemo(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case runlog.IsEventFile(name) || runlog.IsUnfinished(name) || slices.Contains(demoFiles, name):
		case !e.IsDir() || !slices.Contains(demoFiles, name+"/"):
			return name, nil
		default:
			below, err := os.ReadDir(filepath.Join(dir, name))
			if err != nil {
				return "", err
			}
			for _, b := range below {
				if !runlog.IsUnfinished(b.Name()) && !runlog.IsCheckpoint(b.Name()) && b.Name() != traceName(demoInput)+".html" {
					return filepath.Join(name, b.Name()), nil
				}
			}
		}
	}
	return "", nil
}
