//go:build !onnx

package onnxfile

import (
	"errors"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
)

// Write returns an error: this build has no ONNX.
func Write(string, *model.Store, universal.Model, Sizes) ([]string, error) {
	return nil, errors.New("this program was built without ONNX; with it: CGO_ENABLED=1 go build -tags onnx -o bin/ut-onnx ./cmd/ut (docs/weights.md)")
}
