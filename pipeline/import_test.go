package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/t2t"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// Variables that do not make a model are refused by the name of a parameter, and no run is written: one is missing, has another shape, or belongs to
// no stack. Those of another kind of task are refused too.
// Caught when planted: parameters that are not compared; a directory made before.
func TestImportRefusesIncompleteVariables(t *testing.T) {
	data, err := os.ReadFile("../internal/t2t/testdata/ut.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	without := func(parts ...string) []byte {
		less := safetensors.File{Tensors: slices.DeleteFunc(slices.Clone(file.Tensors), func(v safetensors.Tensor) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(v.Name, part) })
		})}
		encoded, err := safetensors.Encode(&less)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	narrow := safetensors.File{Tensors: slices.Clone(file.Tensors)}
	for i, v := range narrow.Tensors {
		if strings.HasSuffix(v.Name, "encoder/universal_transformer_act/rec_layer_0/ffn/conv2/bias") {
			narrow.Tensors[i].Shape, narrow.Tensors[i].Data = []int{15}, v.Data[:15*4]
		}
	}
	cut, err := safetensors.Encode(&narrow)
	if err != nil {
		t.Fatal(err)
	}
	out, run := filepath.Join(t.TempDir(), "run"), experiment.Defaults()
	run.Name, run.Task = "imported", experiment.Task{Value: algorithmic.Copy{Digits: algorithmic.Digits{Base: 11}}}
	opened, err := run.OpenTask()
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"parameter encoder.output_norm.gain of the model that they describe is missing":  without("body/encoder/layer_prepostprocess/layer_norm/layer_norm_scale"),
		"parameter encoder.halting.bias of the model":                                    without("encoder/universal_transformer_act/sigmoid_activation_for_pondering/dense/bias"),
		"parameter encoder.transition.outer.bias has shape [15], but they describe [16]": cut,
		"model.language_model does not fit task.copy":                                    without("/enc", "target_space"),
		"safetensors: ": data[:len(data)-1],
		"npz: ":         []byte("PK and nothing else"),
	} {
		_, _, err := pipeline.Import(out, enginetest.Backend(t), run, opened.Vocabularies(), data, t2t.Options{Heads: 4, TargetSpace: 3})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatal("a run was written")
		}
	}
}

// An imported run holds the converted parameters at update 1 and the configuration of the model, and is loaded without its data; it is no longer
// written. It is not written a second time.
// Caught when planted: another step; the configuration of the run that was given; a run that stays locked.
func TestImport(t *testing.T) {
	data, err := os.ReadFile("../internal/t2t/testdata/ut.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	out, run, o := filepath.Join(t.TempDir(), "run"), experiment.Defaults(), t2t.Options{Heads: 4, TargetSpace: 3}
	run.Name, run.Task = "imported", experiment.Task{Value: algorithmic.Copy{Digits: algorithmic.Digits{Base: 11}}}
	opened, err := run.OpenTask()
	if err != nil {
		t.Fatal(err)
	}
	v := opened.Vocabularies()
	imported, notes, err := pipeline.Import(out, enginetest.Backend(t), run, v, data, o)
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := t2t.Convert(file.Tensors, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(notes, want.Notes) || imported.Name != "imported" || imported.Model.Value.Channels() != want.Config.Width || imported.Digest() == run.Digest() {
		t.Errorf("%+v with notes %q", imported, notes)
	}
	m, err := pipeline.Load(out, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	info, err := pipeline.ReadInfo(out)
	if err != nil || info.Status != pipeline.WeightsOnly || info.Best == nil || info.Best.Step != 1 || m.Step != 1 || len(m.Notes) > 0 || m.Run.Digest() != imported.Digest() || !m.Vocabularies.Equal(v) {
		t.Errorf("step %d, notes %q, %+v, %v", m.Step, m.Notes, info, err)
	}
	got := checkpointTensors(t, out)
	if len(got) != len(want.Parameters) {
		t.Errorf("%d parameters, want %d", len(got), len(want.Parameters))
	}
	for _, p := range want.Parameters {
		if string(got[p.Name]) != string(p.Data) {
			t.Errorf("%s has other values", p.Name)
		}
	}
	other := v
	other.Target = other.Source
	other.Source, err = vocab.New([]string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		v    task.Vocabularies
		want string
	}{{out, v, "already holds a run"}, {filepath.Join(t.TempDir(), "other"), other, "ids of the source, but the vocabulary has 3: "}} {
		if _, _, err := pipeline.Import(c.dir, enginetest.Backend(t), run, c.v, data, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
