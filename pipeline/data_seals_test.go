package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/training"
)

// dataChanges are changes of a file of pairs, or of a text, that keep all its symbols and their counts. A third of the targets moves on
// by three lines; a quarter of the file moves from its start to its end.
var dataChanges = map[string]func(lines []string) []string{
	"targets shuffled": func(lines []string) []string {
		changed := slices.Clone(lines)
		for i := 0; i+3 < len(lines); i += 3 {
			source, _, _ := strings.Cut(lines[i], "\t")
			_, target, _ := strings.Cut(lines[(i+3)%len(lines)], "\t")
			changed[i] = source + "\t" + target
		}
		return changed
	},
	"a quarter moved": func(lines []string) []string {
		return append(slices.Clone(lines[len(lines)/4:]), lines[:len(lines)/4]...)
	},
}

// change rewrites a file of lines.
func change(t *testing.T, path string, by func([]string) []string) (restore func()) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := by(strings.Split(strings.TrimSuffix(string(before), "\n"), "\n"))
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sealedRuns returns a run on pairs, one whose sources end with End, and one on a text.
func sealedRuns(t *testing.T) map[string]experiment.Run {
	t.Helper()
	var table, b strings.Builder
	for i := range 60 { // frequencies differ so much that the changes leave the vocabulary as it is
		fmt.Fprintf(&table, "%d\t%s%s\n", i*7, strings.Repeat("a", 1+i%5), strings.Repeat("b", i%2))
	}
	onPairs, onText := brief(t, table.String()), brief(t, "")
	path := filepath.Join(t.TempDir(), "text")
	for i := range 200 {
		fmt.Fprintf(&b, "%sbb\n", strings.Repeat("a", 5+i%7))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	onText.Task = experiment.Task{Value: text.Text{Path: path, Length: 8, HeldOut: 0.3}}
	model := onText.Model.Value.(experiment.EncoderDecoder)
	onText.Model = experiment.Model{Value: experiment.LanguageModel(model)}
	ended := onPairs
	ended.SourceEnd = true
	return map[string]experiment.Run{"pairs": onPairs, "pairs with source_end": ended, "text": onText}
}

// A run is not resumed on other data with the same vocabulary, unless that is asked for, and an evaluation reports them.
// Caught when planted: digests that do not depend on order, or on targets; an acceptance that is not sealed again; no digests with source_end.
func TestResumeRefusesChangedData(t *testing.T) {
	for kind, r := range sealedRuns(t) {
		dir := filepath.Join(t.TempDir(), kind)
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatal(err)
		}
		for name, by := range dataChanges {
			path := dataPath(r)
			restore := change(t, path, by)
			var refused *pipeline.DataError
			_, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=8")
			if kind == "text" && name == "targets shuffled" {
				restore()
				continue // a text has no targets
			}
			if !errors.As(err, &refused) || !strings.Contains(refused.Changed, "the training, validation") || !strings.HasSuffix(err.Error(), ": restore the files, or accept the changed data") {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			if notes := evaluationNotes(t, dir); !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "data have changed since the checkpoint of update 6") }) {
				t.Errorf("%s, %s: the evaluation notes %q", kind, name, notes)
			}
			restore()
		}
		if notes := evaluationNotes(t, dir); len(notes) > 0 {
			t.Errorf("%s: the evaluation of unchanged data notes %q", kind, notes)
		}
		acceptChange(t, kind, dir, dataPath(r))
	}
}

// acceptChange resumes a run on changed data, which are its data from then on.
func acceptChange(t *testing.T, kind, dir, path string) {
	t.Helper()
	change(t, path, dataChanges["a quarter moved"])
	var notes []string
	accepting := pipeline.Callbacks{AcceptData: true, Log: func(line string) { notes = append(notes, line) }}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, accepting, "training.steps=8"); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	if !strings.Contains(strings.Join(notes, "\n"), "data have changed since the checkpoint of update 6, and are accepted") {
		t.Errorf("%s: notes %q", kind, notes)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=10"); err != nil {
		t.Errorf("%s: accepted data are refused later: %v", kind, err)
	}
	sessions, err := pipeline.ReadSessions(dir)
	if err != nil || len(sessions) != 3 || sessions[0].ChangedData+sessions[2].ChangedData != "" || !strings.HasSuffix(sessions[1].ChangedData, "data have changed since the checkpoint of update 6") {
		t.Errorf("%s: sessions %+v, %v", kind, sessions, err)
	}
	if info, err := pipeline.ReadInfo(dir); err != nil || info.ChangedData != sessions[1].ChangedData {
		t.Errorf("%s: %q, %v", kind, info.ChangedData, err)
	}
}

// dataPath returns the path of a run's data.
func dataPath(r experiment.Run) string {
	if pairs, ok := r.Task.Value.(table.Table); ok {
		return pairs.Path
	}
	return r.Task.Value.(text.Text).Path
}

// evaluationNotes evaluates the newest checkpoint of a run.
func evaluationNotes(t *testing.T, dir string) (notes []string) {
	t.Helper()
	m, err := pipeline.LoadOptions{Newest: true}.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Evaluate(t.Context(), pipeline.Protocol{Log: func(line string) { notes = append(notes, line) }}); err != nil {
		t.Fatal(err)
	}
	return notes
}

// A changed test part alone is named alone. Checkpoints without digests are used with a note.
func TestChangedTestData(t *testing.T) {
	r := brief(t, pairs())
	definition := r.Task.Value.(table.Table)
	definition.HeldOut, definition.HeldOutPath = 0, filepath.Join(t.TempDir(), "test.tsv")
	r.Task.Value = definition
	if err := os.WriteFile(definition.HeldOutPath, []byte("7\th\n14\tbe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	defer change(t, definition.HeldOutPath, func([]string) []string { return []string{"7\th", "14\teb"} })()
	var refused *pipeline.DataError
	_, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{})
	if !errors.As(err, &refused) || refused.Changed != "the test data have changed since the checkpoint of update 6" || refused.Dir != dir {
		t.Errorf("%v", err)
	}
	unseal(t, dir)
	var notes []string
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{Log: func(line string) { notes = append(notes, line) }}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(notes, "\n"), "does not say with which data it was trained") {
		t.Errorf("notes %q", notes)
	}
}

// unseal removes the digests of data from the newest checkpoint, as earlier versions wrote none.
func unseal(t *testing.T, dir string) {
	t.Helper()
	c := lastCheckpoint(t, dir)
	for _, part := range []string{"training", "validation", "test"} {
		delete(c.Meta, training.DataKey(part))
	}
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.SaveCheckpoint(c.Step, c, 2), log.Close()); err != nil {
		t.Fatal(err)
	}
}

// The data of a run are sealed from its first update on; before it, nothing has been learned from them.
func TestDataAreSealedByTheFirstUpdate(t *testing.T) {
	for _, pretrained := range []bool{false, true} {
		r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
		r.Training.Steps, r.Training.CheckpointEvery = 1, 1
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		callbacks := pipeline.Callbacks{}
		if pretrained {
			from, _ := briefly(t)
			r = fineTuned(r, from)
			callbacks.Log = func(line string) {
				if strings.HasPrefix(line, "starting from") {
					cancel()
				}
			}
		}
		if _, err := pipeline.Train(ctx, enginetest.Backend(t), r, dir, callbacks); err != nil {
			t.Fatal(err)
		}
		change(t, dataPath(r), func(lines []string) []string {
			slices.Reverse(lines)
			return lines
		})
		_, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=2")
		var changed *pipeline.DataError
		if !pretrained && !errors.As(err, &changed) || pretrained && err != nil {
			t.Errorf("pretrained %v: %v", pretrained, err)
		}
	}
}
