//go:build onnx

package onnxfile

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/decoding"
	"universal-transformer/universal"
)

// A file is one graph.
type file struct {
	name        string
	inputs      []shapes.Shape
	inputNames  []string
	outputNames []string
	graph       func(scope *model.Scope, inputs []*Node) []*Node
}

// files returns the graphs of a model. One that cannot be expressed is an error.
func files(m universal.Model, s Sizes) ([]file, error) {
	switch m.(type) {
	case universal.Pointer, lstm.Pointer:
		return nil, errors.New("a pointer cannot be expressed in ONNX: it adds up the weights of equal words, and compute-onnx writes that with indices that ONNX does not allow")
	}
	source := shapes.Make(dtypes.Int32, s.Rows, s.Source*max(s.Words, 1))
	if d, ok := m.(decoding.Model); ok {
		return generating(d, s, source)
	}
	return []file{{
		name: "model.onnx", inputs: []shapes.Shape{source}, inputNames: []string{"source"}, outputNames: []string{"logits", "steps"},
		graph: func(scope *model.Scope, inputs []*Node) []*Node {
			result := m.Forward(scope, universal.Inputs{Source: inputs[0]}, universal.Options{})
			return []*Node{result.Logits, result.Encoder.Updates}
		},
	}}, nil
}

// generating returns the graphs of a model that generates sequences.
func generating(m decoding.Model, s Sizes, source shapes.Shape) (list []file, err error) {
	if err := m.CheckSource(s.Source); err != nil {
		return nil, err
	}
	ofSource, cache := m.SourceCacheShapes(s.Rows, s.Source), m.CacheShapes(s.Rows, s.Target, s.Source)
	if vocabulary, _ := m.Vocabularies(); vocabulary > 0 {
		list = append(list, file{
			name: "encoder.onnx", inputs: []shapes.Shape{source}, inputNames: []string{"source"}, outputNames: numbered("source", len(ofSource)),
			graph: func(scope *model.Scope, inputs []*Node) []*Node { return m.CacheSource(scope, inputs[0]) },
		})
	}
	inputs := append([]shapes.Shape{shapes.Make(dtypes.Int32, s.Rows, 1), shapes.Make(dtypes.Int32, 1)}, ofSource...)
	names := append([]string{"token", "length"}, numbered("source", len(ofSource))...)
	return append(list, file{
		name: "step.onnx", inputs: append(inputs, cache...), inputNames: append(names, numbered("cache", len(cache))...),
		outputNames: append([]string{"logits"}, numbered("next", len(cache))...),
		graph: func(scope *model.Scope, inputs []*Node) []*Node {
			of, kept := inputs[2:2+len(ofSource)], inputs[2+len(ofSource):]
			c := &universal.Cache{Length: Reshape(inputs[1]), Source: of, Tensors: append([]*Node{}, kept...)}
			return append([]*Node{m.DecodeStep(scope, inputs[0], c)}, c.Tensors...)
		},
	}), nil
}

// numbered returns name_1, name_2, ...
func numbered(name string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s_%d", name, i+1))
	}
	return names
}
