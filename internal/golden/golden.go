// Package golden compares the model with reference vectors from independent float64 programs: from the paper's equations in plain
// loops, or from the authors' code (raw_form and code_form: pre-norm, learned step embeddings, one shared embedding; raw_form with
// their coordinates). Each safetensors file is a case with weights, a batch, and the expected results (outputs, halting, attention,
// all gradients).
//
// The files have one layout. "config" in the metadata is JSON; "weight.NAME" are parameters, "gradient.NAME" the gradient of the loss
// by each, "input.source" and "input.target" ids, "expect.*" results. Values at padding are not compared.
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

// A Case is the content of one file.
type Case struct {
	Name         string
	Config       universal.Config
	PonderWeight float64
	encoder      bool // the model is a classifying encoder, not an encoder-decoder
	pool         universal.Pool
	tensors      map[string]safetensors.Tensor
}

// config is the description of the model in a case's metadata. Unknown keys are rejected, because they may change the model.
type config struct {
	Model                            string // "", an encoder-decoder, or "encoder"
	Pool                             string // of an encoder: "mean" or "last"
	Width, Heads, Filter, Vocabulary int
	Classes                          int // of an encoder
	Transition, Halting, Coordinates string
	Arrangement                      string
	Steps                            int
	MaxSteps                         int     `json:"max_steps"`
	Epsilon                          float64 `json:"epsilon"`
	PonderWeight                     float64 `json:"ponder_weight"`
	PreNorm                          bool    `json:"pre_norm"`
	LearnedSteps                     bool    `json:"learned_steps"`
	ScaleEmbedding                   bool    `json:"scale_embedding"`
	SharedEmbedding                  bool    `json:"shared_embedding"`
	TiedReadout                      bool    `json:"tied_readout"`
}

// A Tolerance is the maximum difference of a value, relative to the largest entry of its tensor.
type Tolerance struct{ Value, Gradient float64 }

// Tolerances for both precisions.
var (
	Float64 = Tolerance{Value: 1e-9, Gradient: 1e-8}
	Float32 = Tolerance{Value: 1e-4, Gradient: 1e-3}
)

// ToleranceOf returns the tolerance for a precision.
func ToleranceOf(precision dtypes.DType) Tolerance {
	if precision == dtypes.Float64 {
		return Float64
	}
	return Float32
}

// List returns the paths of the case files in a directory, sorted. A directory without case files is an error.
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

// Read reads a case.
func Read(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	result, err := parse(strings.TrimSuffix(filepath.Base(path), ".safetensors"), data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return result, nil
}

// parse decodes the case in a file.
func parse(name string, data []byte) (*Case, error) {
	file, err := safetensors.Decode(data)
	if err != nil {
		return nil, err
	}
	var c config
	decoder := json.NewDecoder(strings.NewReader(file.Metadata["config"]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("its config cannot be read: %w", err)
	}
	result := &Case{Name: name, PonderWeight: c.PonderWeight, tensors: map[string]safetensors.Tensor{}}
	for _, t := range file.Tensors {
		result.tensors[t.Name] = t
	}
	if err := c.describe(result); err != nil {
		return nil, err
	}
	return result, result.model().Validate()
}

// describe sets the model of the case as config describes it.
func (c config) describe(result *Case) error {
	act := halting.ACT{MaxSteps: c.MaxSteps, Epsilon: c.Epsilon}
	policy, known1 := map[string]halting.Policy{
		"fixed": halting.Fixed{Steps: c.Steps}, "listing": halting.Listing{ACT: act},
		"graves": halting.Graves{ACT: act}, "frozen": halting.Frozen{ACT: act},
	}[c.Halting]
	transition, known2 := map[string]universal.Transition{
		"feedforward": universal.FeedForward{Filter: c.Filter}, "separable_convolution": universal.SeparableConvolution{Filter: c.Filter},
	}[c.Transition]
	coordinates, known3 := map[string]universal.Coordinates{
		"": nil, "paper": universal.Sinusoidal{}, "tensor2tensor": universal.Tensor2Tensor{Alternate: true}, // the channels in the files alternate
	}[c.Coordinates]
	arrangement, known5 := map[string]universal.Arrangement{"": nil, "submitted": universal.Submitted{}, "first_version": universal.FirstVersion{}}[c.Arrangement]
	pool, known4 := map[string]universal.Pool{"": nil, "mean": universal.Mean, "last": universal.Last}[c.Pool]
	if !known1 || !known2 || !known3 || !known4 || !known5 || c.Model != "" && c.Model != "encoder" {
		return fmt.Errorf("unknown value among halting %q, transition %q, coordinates %q, arrangement %q, pool %q, model %q",
			c.Halting, c.Transition, c.Coordinates, c.Arrangement, c.Pool, c.Model)
	}
	result.encoder, result.pool = c.Model == "encoder", pool
	result.Config = universal.Config{
		SourceVocabulary: c.Vocabulary, TargetVocabulary: c.Vocabulary, Width: c.Width, Heads: c.Heads,
		Transition: transition, Halting: policy, Coordinates: coordinates, Arrangement: arrangement, PreNorm: c.PreNorm, LearnedSteps: c.LearnedSteps,
		ScaleEmbedding: c.ScaleEmbedding, SharedEmbedding: c.SharedEmbedding, TiedReadout: c.TiedReadout,
	}
	if result.encoder {
		result.Config.TargetVocabulary = c.Classes
	}
	return nil
}

// model returns the case's model.
func (c *Case) model() universal.Model {
	if c.encoder {
		return universal.Encoder{Config: c.Config, Pool: c.pool}
	}
	return universal.EncoderDecoder{Config: c.Config}
}

// parameters returns the names of the case's weights, sorted.
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
