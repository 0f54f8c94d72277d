// Package models_test checks that every model in this folder loads without its data, answers an input as README.md says, and can be traced.
package models_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/babi"
	"universal-transformer/viewer"
)

// inputs are an input of each model and its answer; README.md has them too.
var inputs = map[string]struct{ input, answer string }{
	"reverse":     {"31415", "51413"},
	"addition":    {"321+654", "975"},
	"program":     {"(123+456)+789", "1368"},
	"babi":        {babi.Stories[2].Text, "bathroom"},
	"translation": {"Two dogs are playing in the snow.", "Zwei Hunde spielen im Schnee."},
}

func TestModels(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("*/config.json")
	if err != nil || len(folders) != len(inputs) {
		t.Fatalf("%q, but %d inputs (%v)", folders, len(inputs), err)
	}
	for name, test := range inputs {
		t.Run(name, func(t *testing.T) {
			m, err := pipeline.Load(name, enginetest.Backend(t))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if len(m.Notes) > 0 {
				t.Errorf("notes: %q", m.Notes)
			}
			trace, err := m.Trace(t.Context(), test.input)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(trace.Output, ""); got != test.answer {
				t.Errorf("the answer to %q is %q, want %q", test.input, got, test.answer)
			}
			fixed := name == "addition" // without halting there are no weights
			if len(trace.Readouts) == 0 || trace.Encoder == nil || (len(trace.Encoder.Weights) == 0) != fixed || len(trace.Encoder.Changes) == 0 {
				t.Errorf("the trace lacks weights, changes or readouts")
			}
			var page bytes.Buffer
			if err := viewer.WriteHTML(&page, trace); err != nil || page.Len() > 1e6 {
				t.Errorf("a page of %d bytes, %v", page.Len(), err)
			}
			in := strings.ReplaceAll(test.input, babi.Stories[2].Text, "--figure 7")
			for _, want := range []string{"`" + name + "`", "`" + in + "`", "`" + test.answer + "`"} {
				if !strings.Contains(string(readme), want) {
					t.Errorf("README.md has no %s", want)
				}
			}
		})
	}
}

// The tokens of an answer's details are text that adds up to the line and to the answer, also where a token is a part of a word.
// Caught when planted: tokens as the vocabulary spells them, such as "ĠschlÃ¤ft".
func TestDetailsAreText(t *testing.T) {
	m, err := pipeline.Load("translation", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	answers, err := m.Decode(t.Context(), []string{"A man is sleeping."}, pipeline.DecodeOptions{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	d := answers[0].Details
	if source, target := strings.Join(d.Source, ""), strings.Join(d.Target, ""); source != "A man is sleeping." || target != "Ein Mann schläft.<end>" {
		t.Errorf("%q, %q", source, target)
	}
}

// The models stay small.
func TestModelsAreSmall(t *testing.T) {
	var total int64
	err := filepath.WalkDir(".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		total += info.Size()
		return err
	})
	if err != nil || total > 12e6 {
		t.Errorf("%d bytes in all, %v", total, err)
	}
}

// What other programs need of a model lies in one folder: with subwords also the tokenizer.
// Caught when planted: an export without tokenizer.json.
func TestExportsAreComplete(t *testing.T) {
	for name := range inputs {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		path, err := m.Export()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
		if got, _ := os.ReadFile(filepath.Join(path, "tokenizer.json")); !bytes.Equal(got, want) || (len(want) > 0) != (name == "translation") {
			t.Errorf("%s: the exported tokenizer has %d bytes, that of the run %d", name, len(got), len(want))
		}
		file, err := runlog.ReadExport(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var described experiment.Portable
		if err := json.Unmarshal([]byte(file.Metadata["model"]), &described); err != nil {
			t.Fatal(err)
		}
		positions := map[string]int{"babi": m.Vocabularies.TokensPerPosition}
		if described.Heads < 1 || described.TokensPerPosition != max(positions[name], 1) || described.TargetEnd != (name != "babi") {
			t.Errorf("%s: %+v", name, described)
		}
	}
}
