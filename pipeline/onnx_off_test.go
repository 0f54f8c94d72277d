//go:build !onnx

package pipeline_test

import (
	"strings"
	"testing"

	"universal-transformer/internal/onnxfile"
)

// A build without ONNX says so, with the run. Caught when planted: an export that writes nothing without an error.
func TestExportWithoutONNX(t *testing.T) {
	m := load(t)
	if paths, err := m.ExportONNX(onnxfile.Sizes{}); len(paths) > 0 || err == nil || !strings.HasPrefix(err.Error(), m.Dir()+": ") || !strings.Contains(err.Error(), "onnx") {
		t.Errorf("%q, %v", paths, err)
	}
}
