package t2t_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/t2t"
)

// Variables without a place here are refused by name, with the reason; so are sets of variables that are not complete.
// Caught when planted: a gate, a second layer of a step or a class label that is skipped; numbers that are not finite.
func TestRefusedVariables(t *testing.T) {
	inStack := func(name string) string { return "body/encoder/universal_transformer_basic/" + name }
	for want, added := range map[string]safetensors.Tensor{
		`recurrence_type "highway"`:                    variable("body/encoder/universal_transformer_highway/rec_layer_0/ffn/conv1/bias", []int{1}, []float64{1}),
		"its recurrence_type is act":                   variable("body/encoder/universal_transformer_act/rec_layer_0/ffn/conv1/bias", []int{1}, []float64{1}),
		"rec_layer_1/ffn/conv1/bias: no model":         variable(inStack("rec_layer_1/ffn/conv1/bias"), []int{1}, []float64{1}),
		"layer_0/ffn/conv1/bias: no model":             variable(inStack("layer_0/ffn/conv1/bias"), []int{1}, []float64{1}),
		"depth_embedding: no model":                    variable(inStack("depth_embedding"), []int{1}, []float64{1}),
		"sigmoid_activation_for_pondering/dense/bias:": variable(inStack("sigmoid_activation_for_pondering/dense/bias"), []int{1}, []float64{1}),
		"class_label_modality_2_16/dense/kernel: no":   variable("class_label_modality_2_16/dense/kernel", []int{1}, []float64{1}),
		"symbol_modality_7_16/shared/weights_0: symbo": variable("symbol_modality_7_16/shared/weights_0", []int{7, 16}, make([]float64, 7*16)),
		"shared and separate tables":                   variable("symbol_modality_13_16/softmax/weights_0", []int{13, 16}, make([]float64, 13*16)),
		"weights_9 of shape [1 16] does not fit":       variable("symbol_modality_13_16/shared/weights_9", []int{1, 16}, make([]float64, 16)),
		"it holds NaN":                                 variable("body/decoder/layer_prepostprocess/layer_norm/layer_norm_extra", []int{1}, []float64{math.NaN()}),
		"it is I64":                                    {Name: "universal_transformer/body/x", DType: "I64", Shape: []int{1}, Data: make([]byte, 8)},
		"its shape is [2], but it should have 2 axes":  variable("body/encoder/universal_transformer_basic/rec_layer_0/encdec_attention/multihead_attention/q/kernel", []int{2}, []float64{1, 2}),
		"before sub-layers and some after":             variable(inStack("rec_layer_0/encdec_attention/layer_prepostprocess_1/layer_norm/layer_norm_bias"), []int{1}, []float64{1}),
		"is the same parameter, encoder.output_norm":   variable("body/encoder/layer_preprocess/layer_norm/layer_norm_bias", []int{16}, make([]float64, 16)),
		"transformer/body/x: it does not belong":       {Name: "transformer/body/x", DType: "F32", Shape: []int{1}, Data: make([]byte, 4)},
	} {
		variables := append(readReference(t, "raw_form_fixed_feedforward").variables(), added)
		if _, err := t2t.Convert(variables, t2t.Options{Heads: 4, TargetSpace: 3}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	complete := readReference(t, "raw_form_fixed_feedforward").variables()
	for part, want := range map[string]string{
		"shared": "tables are missing", "decoder/universal_transformer_basic/rec_layer_0/self_attention/multihead_attention/q": "there is no decoder",
		"encoder/universal_transformer_basic/layer_embedding": "encoder/.../layer_embedding are missing", "decoder/universal_transformer_basic/rec_layer_0/ffn/conv1/bias": "decoder/.../ffn are missing",
	} {
		less := slices.DeleteFunc(slices.Clone(complete), func(v safetensors.Tensor) bool { return strings.Contains(v.Name, part) })
		if _, err := t2t.Convert(less, t2t.Options{Heads: 4, TargetSpace: 3}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v, want %q", part, err, want)
		}
	}
}

// What the variables do not tell is asked for, and what contradicts them refused.
func TestOptions(t *testing.T) {
	complete := readReference(t, "raw_form_fixed_feedforward").variables()
	if _, err := t2t.Convert(complete, t2t.Options{Heads: 4, TargetSpace: -1}); !errors.Is(err, t2t.ErrTargetSpace) {
		t.Error(err)
	}
	if _, err := t2t.Convert(complete, t2t.Options{Heads: 4, TargetSpace: 32}); err == nil || !strings.Contains(err.Error(), "no row 32") {
		t.Error(err)
	}
	if _, err := t2t.Convert(complete, t2t.Options{Heads: 4, TargetSpace: 1, Steps: 3}); err == nil || !strings.Contains(err.Error(), "3 steps were asked for") {
		t.Error(err)
	}
	unsigned := slices.DeleteFunc(slices.Clone(complete), func(v safetensors.Tensor) bool { return strings.Contains(v.Name, "layer_embedding") })
	if _, err := t2t.Convert(unsigned, t2t.Options{Heads: 4, TargetSpace: 1}); !errors.Is(err, t2t.ErrSteps) {
		t.Error(err)
	}
	m, err := t2t.Convert(unsigned, t2t.Options{Heads: 4, TargetSpace: 1, Steps: 5})
	if err != nil || m.Config.LearnedSteps || m.Config.SharedEmbedding || !m.Config.TiedReadout || m.Config.Halting.Limit(0) != 5 || len(m.Notes) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

// The state of training is left out, and a model without an encoder is a language model.
func TestLanguageModel(t *testing.T) {
	decoder := slices.DeleteFunc(readReference(t, "raw_form_fixed_feedforward").variables(), func(v safetensors.Tensor) bool {
		return strings.Contains(v.Name, "encoder") || strings.Contains(v.Name, "encdec") || strings.Contains(v.Name, "target_space")
	})
	state := []safetensors.Tensor{
		{Name: "global_step", DType: "I64", Data: make([]byte, 8)}, {Name: "training/beta1_power", DType: "F32", Data: make([]byte, 4)},
		{Name: "losses_avg/problem_0/total_loss", DType: "F32", Data: make([]byte, 4)}, {Name: "universal_transformer/body/x/Adam_1", DType: "F32", Data: make([]byte, 4)},
	}
	m, err := t2t.Convert(append(decoder, state...), t2t.Options{Heads: 4, TargetSpace: -1})
	if err != nil || !m.LanguageModel || m.Config.SourceVocabulary != 0 || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "5 of ") {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, p := range m.Parameters {
		if !strings.HasPrefix(p.Name, "decoder.") && p.Name != "embedding.target" || strings.Contains(p.Name, "cross") {
			t.Errorf("%s is not of a language model", p.Name)
		}
	}
}

// FuzzConvert: variables of any names and shapes are refused or converted, never a panic.
func FuzzConvert(f *testing.F) {
	file := readReference(f, "raw_form_act_basic_bias1")
	variables := file.variables()
	for i, v := range variables {
		f.Add(i, v.Name, v.DType, uint8(len(v.Shape)), 3, 0)
	}
	f.Fuzz(func(t *testing.T, at int, name, dtype string, axes uint8, space, steps int) {
		changed := slices.Clone(variables)
		v := &changed[uint(at)%uint(len(changed))]
		v.Name, v.DType = name, dtype
		if n := len(v.Shape); n > 0 && axes < 4 {
			v.Shape = append([]int{}, v.Shape[:min(int(axes), n)]...)
		}
		m, err := t2t.Convert(changed, t2t.Options{Heads: 4, TargetSpace: space % 64, Steps: steps % 2000})
		if err == nil && len(m.Parameters) == 0 {
			t.Error("no parameters")
		}
	})
}
