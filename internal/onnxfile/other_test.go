//go:build !onnx

package onnxfile_test

import (
	"strings"
	"testing"

	"universal-transformer/internal/onnxfile"
)

// A build without the tag says in one line how to build with it.
func TestWithoutTheTag(t *testing.T) {
	_, err := onnxfile.Write(t.TempDir(), nil, nil, onnxfile.Sizes{})
	if err == nil || !strings.Contains(err.Error(), "go build -tags onnx") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// Sizes out of range are errors that name the size.
func TestSizes(t *testing.T) {
	for want, s := range map[string]onnxfile.Sizes{
		"rows is 0: ": {Source: 1, Target: 1}, "source is -1: ": {Rows: 1, Source: -1, Target: 1}, "target is 4097: ": {Rows: 1, Source: 1, Target: 4097},
	} {
		if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
