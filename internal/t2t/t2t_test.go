package t2t_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/t2t"
	"universal-transformer/universal"
)

// Reference vectors of the paper's own form, in other names that tensor2tensor gives: norms after the sub-layers, sinusoidal steps, three
// tables, and a target space that has no step signal to be added to. Their coordinates and the scale of embeddings are the paper's. Caught
// when planted: a softmax that is not transposed; norms before the sub-layers; a target space that is left out; a number of steps ignored.
func TestPostNormAndSeparateTables(t *testing.T) {
	for name, steps := range map[string]int{"fixed_feedforward": 4, "fixed_separable_convolution": 3} {
		reference := readReference(t, name)
		reference.paper = true
		m, err := t2t.Convert(reference.variables(), t2t.Options{Heads: 4, TargetSpace: 3, Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		m.Config.Coordinates, m.Config.ScaleEmbedding = universal.Sinusoidal{}, false
		reference.compare(t, logits(t, m, reference.ids("input.source"), reference.ids("input.target")))
	}
}

// The authors' code ran these models with nothing replaced (internal/golden): their variables, under tensor2tensor's names, in its layout
// and its order of channels, give the logits that it computed. Caught when planted: kernels of convolutions transposed; the target space
// added to every step, or without the factor of step signals; shards in the order of names; queries and keys exchanged; one norm for both
// attentions.
func TestReferenceVectors(t *testing.T) {
	for _, name := range []string{"raw_form_fixed_feedforward", "raw_form_fixed_convolution", "raw_form_act_basic_bias1"} {
		t.Run(name, func(t *testing.T) {
			reference := readReference(t, name)
			m, err := t2t.Convert(reference.variables(), t2t.Options{Heads: 4, TargetSpace: 3})
			if err != nil {
				t.Fatal(err)
			}
			if err := (universal.EncoderDecoder{Config: m.Config}).Validate(); err != nil {
				t.Fatal(err)
			}
			reference.compare(t, logits(t, m, reference.ids("input.source"), reference.ids("input.target")))
		})
	}
}

// logits computes the logits of a converted model.
func logits(t *testing.T, m *t2t.Model, source, target *tensors.Tensor) []float32 {
	t.Helper()
	store := model.NewStore()
	for _, p := range m.Parameters {
		values, err := safetensors.Values[float32](p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.CreateVariable(universal.Path(p.Name), tensors.FromFlatDataAndDimensions(values, p.Shape...)); err != nil {
			t.Fatal(err)
		}
	}
	before := store.NumVariables()
	computation, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *graph.Node) *graph.Node {
		return universal.EncoderDecoder{Config: m.Config}.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer computation.Finalize()
	out, err := computation.Call(source, target)
	if err != nil {
		t.Fatal(err)
	}
	if store.NumVariables() != before {
		t.Errorf("the model has %d variables, the converted ones are %d", store.NumVariables(), before)
	}
	return tensors.MustCopyFlatData[float32](out[0])
}

// reference is a file of reference vectors, in the authors' form or in that of the paper.
type reference struct {
	file  *safetensors.File
	paper bool
}

func (r reference) tensor(name string) safetensors.Tensor {
	t, _ := r.file.Tensor(name)
	return t
}

func (r reference) ids(name string) *tensors.Tensor {
	t := r.tensor(name)
	ids := make([]int32, len(t.Data)/8)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint64(t.Data[8*i:]))
	}
	return tensors.FromFlatDataAndDimensions(ids, t.Shape...)
}

// compare compares logits at real positions to 1e-4 of the largest, as internal/golden does in float32.
func (r reference) compare(t *testing.T, got []float32) {
	t.Helper()
	want, err := safetensors.Values[float64](r.tensor("expect.logits"))
	if err != nil || len(want) != len(got) {
		t.Fatalf("%d logits, want %d, %v", len(got), len(want), err)
	}
	target, worst, largest := r.tensor("input.target"), 0.0, 0.0
	vocabulary := len(want) * 8 / len(target.Data)
	for i, w := range want {
		if target.Data[i/vocabulary*8] != 0 {
			worst, largest = max(worst, math.Abs(float64(got[i])-w)), max(largest, math.Abs(w))
		}
	}
	if !(worst <= 1e-4*largest) || largest < 0.1 {
		t.Errorf("off by %v of %v", worst, largest)
	}
}

// variables returns the weights as tensor2tensor stores them.
func (r reference) variables() []safetensors.Tensor {
	rng := rand.New(rand.NewPCG(5, 5))
	var space []float64
	for range 32 * 16 {
		space = append(space, rng.NormFloat64())
	}
	list := []safetensors.Tensor{variable("body/target_space_embedding/kernel", []int{32, 16}, space), variable("global_step_of_something/Adam", []int{1}, []float64{1})}
	recurrence := "basic"
	if _, act := r.file.Tensor("weight.encoder.halting.bias"); act {
		recurrence = "act"
	}
	for _, t := range r.file.Tensors {
		name, ok := strings.CutPrefix(t.Name, "weight.")
		if !ok {
			continue
		}
		values, err := safetensors.Values[float64](t)
		if err != nil {
			panic(err)
		}
		if r.paper {
			list = append(list, paperVariable(name, t.Shape, values, space[3*16:4*16]))
			continue
		}
		values = halves(name, t.Shape, values)
		if name == "embedding.source" { // 13 rows in shards of 2, in an order that is not that of numbers
			for i := 10; i >= 0; i-- {
				if from, to := 2*i*16, min(2*i+2, 13)*16; from < to {
					list = append(list, variable(fmt.Sprintf("symbol_modality_13_16/shared/weights_%d", i), []int{(to - from) / 16, 16}, values[from:to]))
				}
			}
			continue
		}
		if stack, found := strings.CutSuffix(name, ".step"); found {
			for i := range values {
				if stack == "encoder" && i < 16 {
					values[i] -= space[3*16+i] // the reference has it in the first row
				}
				values[i] /= 4 // sqrt(16)
			}
		}
		stack, rest, _ := strings.Cut(name, ".")
		list = append(list, variable(nameOf(stack, recurrence, rest), shapeOf(name, t.Shape), values))
	}
	return list
}

// paperVariable returns a variable of a model of the paper's form.
func paperVariable(name string, shape []int, values, space []float64) safetensors.Tensor {
	switch name {
	case "embedding.source":
		for i := range values {
			values[i] -= space[i%16] / 4 // as embeddings are multiplied by sqrt(16)
		}
		return variable("symbol_modality_13_16/input_emb/weights_0", shape, values)
	case "embedding.target":
		return variable("symbol_modality_13_16/target_emb/weights_0", shape, values)
	case "readout.weight":
		softmax := make([]float64, len(values))
		for i, x := range values {
			softmax[i%13*16+i/13] = x
		}
		return variable("symbol_modality_13_16/softmax/weights_0", []int{13, 16}, softmax)
	}
	stack, rest, _ := strings.Cut(name, ".")
	return variable(strings.ReplaceAll(nameOf(stack, "basic", rest), "layer_prepostprocess/", "layer_prepostprocess_1/"), shapeOf(name, shape), values)
}

func variable(name string, shape []int, values []float64) safetensors.Tensor {
	t, err := safetensors.New("universal_transformer/"+name, shape, values)
	if err != nil {
		panic(err)
	}
	return t
}

// names maps parts of parameters to tensor2tensor's.
var names = strings.NewReplacer(
	"self_attention_norm.", "rec_layer_0/self_attention/layer_prepostprocess/layer_norm/layer_norm_",
	"cross_attention_norm.", "rec_layer_0/encdec_attention/layer_prepostprocess/layer_norm/layer_norm_",
	"transition_norm.", "rec_layer_0/ffn/layer_prepostprocess/layer_norm/layer_norm_", "gain", "scale",
	"self_attention.", "rec_layer_0/self_attention/multihead_attention/", "cross_attention.", "rec_layer_0/encdec_attention/multihead_attention/",
	"query", "q/kernel", "key", "k/kernel", "value", "v/kernel", "output_norm.", "layer_prepostprocess/layer_norm/layer_norm_", "output", "output_transform/kernel",
	"transition.inner.weight", "rec_layer_0/ffn/conv1/kernel", "transition.outer.weight", "rec_layer_0/ffn/conv2/kernel",
	"transition.inner.", "rec_layer_0/ffn/conv1/", "transition.outer.", "rec_layer_0/ffn/conv2/",
	"transition.first.", "rec_layer_0/ffn/conv1/", "transition.second.", "rec_layer_0/ffn/conv2/", "depthwise", "depthwise_kernel", "pointwise", "pointwise_kernel",
	"halting.weight", "sigmoid_activation_for_pondering/dense/kernel", "halting.", "sigmoid_activation_for_pondering/dense/", "step", "layer_embedding",
)

func nameOf(stack, recurrence, rest string) string {
	if strings.HasPrefix(rest, "output_norm") {
		return "body/" + stack + "/" + names.Replace(rest)
	}
	return "body/" + stack + "/universal_transformer_" + recurrence + "/" + names.Replace(rest)
}

// shapeOf returns the shape that tensor2tensor's variable has.
func shapeOf(name string, shape []int) []int {
	switch {
	case strings.HasSuffix(name, ".step"):
		return []int{shape[0], 1, 1, shape[1]}
	case strings.HasSuffix(name, "depthwise"):
		return []int{shape[0], 1, shape[1], 1}
	case strings.HasSuffix(name, "pointwise"):
		return []int{1, 1, shape[0], shape[1]}
	case strings.HasSuffix(name, "halting.weight"):
		return []int{shape[0], 1}
	}
	return shape
}

// halves reorders the axes of model channels: in the file sines and cosines alternate; in tensor2tensor sines are the first half.
func halves(name string, shape []int, values []float64) []float64 {
	reordered := slices.Clone(values)
	columns := shape[len(shape)-1]
	order := func(name string, n int) func(int) int {
		return func(i int) int {
			if i < n/2 {
				return 2 * i
			}
			return 2*(i-n/2) + 1
		}
	}(name, 16)
	model := map[string][2]bool{ // whether rows and columns are channels of the model
		"query": {true, false}, "key": {true, false}, "value": {true, false}, "output": {false, true}, "inner.weight": {true, false}, "outer.weight": {false, true},
		"first.depthwise": {false, true}, "first.pointwise": {true, false}, "second.pointwise": {false, true},
	}
	rows, channels := false, strings.HasSuffix(name, "gain") || strings.HasSuffix(name, "norm.bias") || strings.HasSuffix(name, "step") || strings.HasPrefix(name, "embedding") ||
		strings.HasSuffix(name, "outer.bias") || strings.HasSuffix(name, "second.bias") || strings.HasSuffix(name, "halting.weight")
	for suffix, axes := range model {
		if strings.HasSuffix(name, suffix) {
			rows, channels = axes[0], axes[1]
		}
	}
	for i := range values {
		r, c := i/columns, i%columns
		if rows {
			r = order(r)
		}
		if channels {
			c = order(c)
		}
		reordered[i] = values[r*columns+c]
	}
	return reordered
}

func readReference(t testing.TB, name string) reference {
	t.Helper()
	f, err := os.Open("../golden/testdata/" + name + ".safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := safetensors.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return reference{file: file}
}

var update = flag.Bool("update", false, "write testdata/ut.safetensors anew")

// testdata/ut.safetensors, which the test of ut import reads, holds the variables of a reference in float32: go test ./internal/t2t -run File -update
func TestFile(t *testing.T) {
	const path = "testdata/ut.safetensors"
	file := &safetensors.File{}
	for _, v := range readReference(t, "raw_form_act_basic_bias1").variables() {
		values, err := safetensors.Values[float64](v)
		if err != nil {
			t.Fatal(err)
		}
		single := make([]float32, len(values))
		for i, x := range values {
			single[i] = float32(x)
		}
		converted, err := safetensors.New(v.Name, v.Shape, single)
		if err != nil {
			t.Fatal(err)
		}
		file.Tensors = append(file.Tensors, converted)
	}
	want, err := safetensors.Encode(file)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the reference in float32: %v", path, err)
	}
}
