package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/safetensors"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// What is exported is the checkpoint, but for the row of padding, which models read as zero; and what a reader cannot know from
// shapes is said.
// Caught when planted: a row of padding that is left, another row that is cleared, the checkpoint itself changed.
func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copier")
	if err := os.CopyFS(dir, os.DirFS(copierDir)); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	before, err := m.Decode(t.Context(), []string{"123"}, pipeline.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	file, err := runlog.ReadExport(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"norm_epsilon", "attention_scale", "embedding_scale", "decoder_first_input", "ids", "step", "version"} {
		if file.Metadata[key] == "" {
			t.Errorf("the metadata do not say %s", key)
		}
	}
	saved := checkpointTensors(t, dir)
	embeddings := 0
	for _, tensor := range file.Tensors {
		want := bytes.Clone(saved[tensor.Name])
		if strings.HasPrefix(tensor.Name, "embedding.") {
			embeddings++
			if row := len(want) / tensor.Shape[0]; bytes.Equal(want[:row], make([]byte, row)) {
				t.Errorf("%s: the checkpoint has a row of zeros already: this shows nothing", tensor.Name)
			} else {
				clear(want[:row])
			}
		}
		if !bytes.Equal(tensor.Data, want) {
			t.Errorf("%s differs from the checkpoint", tensor.Name)
		}
	}
	if again, err := m.Decode(t.Context(), []string{"123"}, pipeline.DecodeOptions{}); err != nil || again[0].Text != before[0].Text || embeddings != 2 {
		t.Errorf("after exporting: %v, before %v, %v; %d embeddings", again, before, err, embeddings)
	}
}

// checkpointTensors is the content of the only checkpoint.
func checkpointTensors(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*.safetensors"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string][]byte{}
	for _, tensor := range file.Tensors {
		saved[tensor.Name] = tensor.Data
	}
	return saved
}

// A run of the weights only answers and traces like the run that it was exported from, without the data, and is not resumed.
// Caught when planted: the newest weights instead of the averaged ones, a step that is lost.
func TestExportRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "weights")
	var answers, traces []string
	for _, from := range []string{copierDir, dir} {
		m, err := pipeline.Load(from, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		found, err := m.Decode(t.Context(), []string{"123", "3312"}, pipeline.DecodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		trace, err := m.Trace(t.Context(), "1232")
		if err != nil {
			t.Fatal(err)
		}
		answers, traces = append(answers, fmt.Sprint(found)), append(traces, fmt.Sprint(trace.Readouts, trace.Encoder.Weights, trace.Decoder.CrossAttention))
		if from == copierDir {
			if err := m.ExportRun(dir); err != nil {
				t.Fatal(err)
			}
			if log, err := runlog.Open(dir); err != nil || log.InUse() {
				t.Errorf("the exported run is still open for writing: %v", err)
			}
			if err := m.ExportRun(dir); !errors.Is(err, runlog.ErrExists) {
				t.Errorf("a run is replaced: %v", err)
			}
		}
	}
	if answers[0] != answers[1] || traces[0] != traces[1] {
		t.Errorf("%s, exported: %s", answers[0], answers[1])
	}
	for name, tensor := range checkpointTensors(t, dir) {
		if strings.Contains(name, "moment") || strings.HasPrefix(name, "averaged") || len(tensor) == 0 {
			t.Errorf("%s is not a weight", name)
		}
	}
	if info, err := pipeline.ReadInfo(dir); err != nil || info.Status != pipeline.WeightsOnly || info.Problem != "" || info.Parameters == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	before := fileContent(t, filepath.Join(dir, "config.json"))
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=100000"); !errors.Is(err, training.ErrWeightsOnly) {
		t.Errorf("resumed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "changes.json")); err == nil || fileContent(t, filepath.Join(dir, "config.json")) != before {
		t.Error("a resume that is refused changes the configuration")
	}
}

// The weights of a best checkpoint that is older than a change of the configuration are exported with the change, so that the export is used
// without a note.
// Caught when planted: an export without changes.json.
func TestExportOfAChangedRun(t *testing.T) {
	dir, _ := briefly(t)
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=8", "training.log_every=1"); err != nil {
		t.Fatal(err)
	}
	markBest(t, dir, 6)
	exported := filepath.Join(t.TempDir(), "exported")
	for _, from := range []string{dir, exported} {
		m, err := pipeline.Load(from, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		if from == dir {
			err = m.ExportRun(exported)
		}
		m.Close()
		if err != nil || m.Step != 6 || len(m.Notes) > 0 {
			t.Errorf("%s: step %d, notes %q, %v", from, m.Step, m.Notes, err)
		}
	}
}

// The folder of an export is no run, and the error says what it is. Caught when planted: the error of a run of another version.
func TestLoadOfAnExport(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	dir := filepath.Join(t.TempDir(), "export")
	if err := m.ExportTo(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Load(dir, enginetest.Backend(t)); err == nil || !strings.HasPrefix(err.Error(), dir+" is an export for other programs, not a run") {
		t.Error(err)
	}
}
