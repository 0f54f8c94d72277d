// Package onnxfile writes models as ONNX graphs, with the build tag onnx. GoMLX builds the files (ml/model/onnx); its binding to ONNX
// Runtime needs C, and the library when a file is written.
//
// Graphs have fixed sizes: a number of rows, of source positions, and of target tokens. Shorter rows are padded. All steps up to the maximum are
// part of the graph; the states of halted positions are copied. A classifier or tagger is one file, model.onnx:
//
//	source [R, M W] int32 -> logits [R, 1, V] or [R, M, V], steps [R, M]
//
// A model that generates sequences is encoder.onnx (not a language model) and step.onnx, which reads one token and its cache and returns
// the next cache:
//
//	source [R, M W]                                      -> source_1, source_2, ...
//	token [R, 1], length [1], source_1, ..., cache_1, ... -> logits [R, V], next_1, ...
//
// The first token is 0, caches begin as zeros, and length is the number of tokens read before.
package onnxfile

import "fmt"

// Sizes are the sizes of graphs.
type Sizes struct {
	Rows   int // R
	Source int // M, source positions
	Target int // target tokens, including End; of models that generate sequences
	Words  int // W, tokens at a source position; 0 means 1
}

// maxSize bounds graphs, which have every step and, for each, weights of every pair of positions.
const maxSize = 4096

// Validate returns an error that names the first size out of range.
func (s Sizes) Validate() error {
	for _, size := range []struct {
		name  string
		value int
	}{{"rows", s.Rows}, {"source", s.Source}, {"target", s.Target}} {
		if size.value < 1 || size.value > maxSize {
			return fmt.Errorf("%s is %d: it must be from 1 to %d", size.name, size.value, maxSize)
		}
	}
	return nil
}
