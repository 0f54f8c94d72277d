//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

// sameAs returns an error unless the job succeeded with the results of another run: equal bytes of metrics, configuration and
// best.json, and an equal last checkpoint apart from its training time.
func (o outcome) sameAs(want, got string) error {
	if o.err != nil {
		return fmt.Errorf("%w\n%s", o.err, o.stderr)
	}
	for _, name := range []string{"metrics.jsonl", "best.json", "config.json"} {
		a, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			return err
		}
		if b, err := os.ReadFile(filepath.Join(got, name)); err != nil || !bytes.Equal(a, b) {
			return fmt.Errorf("%s differs (%v)", name, err)
		}
	}
	a, err := last(want)
	if err != nil {
		return err
	}
	b, err := last(got)
	if err != nil {
		return err
	}
	if a.Step != b.Step || !maps.Equal(a.Meta, b.Meta) {
		return fmt.Errorf("the last checkpoints, of updates %d and %d, say\n%v\n%v", a.Step, b.Step, a.Meta, b.Meta)
	}
	if len(a.Tensors) == 0 || len(a.Tensors) != len(b.Tensors) {
		return fmt.Errorf("there are %d and %d tensors", len(a.Tensors), len(b.Tensors))
	}
	for i, x := range a.Tensors {
		if y := b.Tensors[i]; x.Name != y.Name || x.DType != y.DType || !slices.Equal(x.Shape, y.Shape) || !bytes.Equal(x.Data, y.Data) {
			return fmt.Errorf("%s differs", x.Name)
		}
	}
	return nil
}

// last returns the newest checkpoint of a run without its training time, with tensors sorted by name.
func last(dir string) (*runlog.Checkpoint, error) {
	run, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	c, _, err := run.Latest()
	if err != nil {
		return nil, err
	}
	var state map[string]any
	if err := json.Unmarshal([]byte(c.Meta["training"]), &state); err != nil {
		return nil, err
	}
	delete(state, "seconds")
	without, err := json.Marshal(state)
	c.Meta["training"] = string(without)
	delete(c.Meta, "sha256")
	slices.SortFunc(c.Tensors, func(a, b safetensors.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return c, err
}

// copyDir copies a directory, which may not exist.
func copyDir(to, from string) error {
	if _, err := os.Stat(from); os.IsNotExist(err) {
		return nil
	}
	return os.CopyFS(to, os.DirFS(from))
}
