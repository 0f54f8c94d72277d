// Package golden holds the model to vectors that an independent float64 program made from the paper's equations: one
// safetensors file a case, with weights, a batch, and what must come out (outputs, halting, attention, every gradient).
//
// The files follow one layout. "config" in the metadata is JSON; "weight.NAME" are parameters, "gradient.NAME" the loss's
// gradient by each, "input.source" and "input.target" ids, "expect.*" results. Values at padding are not compared.
package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/halting"
	"universal-transformer/internal/safetensors"
	"universal-transformer/universal"
)

// Case is one file.
type Case struct {
	Name         string
	Model        universal.EncoderDecoder
	PonderWeight float64
	tensors      map[string]safetensors.Tensor
}

// config is what a case's metadata says of its model.
type config struct {
	Width, Heads, Filter, Vocabulary int
	Transition, Halting              string
	Steps                            int
	MaxSteps                         int     `json:"max_steps"`
	Epsilon                          float64 `json:"epsilon"`
	PonderWeight                     float64 `json:"ponder_weight"`
}

// Tolerance is how far a value may be off, relative to the largest entry of its tensor.
type Tolerance struct{ Value, Gradient float64 }

// Tolerances of the two precisions.
var (
	Float64 = Tolerance{Value: 1e-9, Gradient: 1e-8}
	Float32 = Tolerance{Value: 1e-4, Gradient: 1e-3}
)

// ToleranceOf is the one for a precision.
func ToleranceOf(precision dtypes.DType) Tolerance {
	if precision == dtypes.Float64 {
		return Float64
	}
	return Float32
}

// List names the case files of a directory, in order. A directory without any is an error.
func List(dir string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("golden vectors: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("golden vectors: no *.safetensors in %s", dir)
	}
	slices.Sort(files)
	return files, err
}

// Read loads a case.
func Read(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := safetensors.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var c config
	if err := json.Unmarshal([]byte(file.Metadata["config"]), &c); err != nil {
		return nil, fmt.Errorf("%s: its config cannot be read: %w", path, err)
	}
	result := &Case{Name: strings.TrimSuffix(filepath.Base(path), ".safetensors"), PonderWeight: c.PonderWeight, tensors: map[string]safetensors.Tensor{}}
	for _, t := range file.Tensors {
		result.tensors[t.Name] = t
	}
	result.Model, err = c.model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return result, result.Model.Validate()
}

// model is the model that a config describes.
func (c config) model() (universal.EncoderDecoder, error) {
	act := halting.ACT{MaxSteps: c.MaxSteps, Epsilon: c.Epsilon}
	policies := map[string]halting.Policy{
		"fixed": halting.Fixed{Steps: c.Steps}, "listing": halting.Listing{ACT: act},
		"graves": halting.Graves{ACT: act}, "frozen": halting.Frozen{ACT: act},
	}
	transitions := map[string]universal.Transition{
		"feedforward": universal.FeedForward{Filter: c.Filter}, "separable_convolution": universal.SeparableConvolution{Filter: c.Filter},
	}
	policy, transition := policies[c.Halting], transitions[c.Transition]
	if policy == nil || transition == nil {
		return universal.EncoderDecoder{}, fmt.Errorf("halting %q or transition %q is not known", c.Halting, c.Transition)
	}
	return universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: c.Vocabulary, TargetVocabulary: c.Vocabulary, Width: c.Width, Heads: c.Heads,
		Transition: transition, Halting: policy,
	}}, nil
}

// parameters lists the names of the case's weights, sorted.
func (c *Case) parameters() []string {
	var names []string
	for name := range c.tensors {
		if parameter, ok := strings.CutPrefix(name, "weight."); ok {
			names = append(names, parameter)
		}
	}
	slices.Sort(names)
	return names
}
