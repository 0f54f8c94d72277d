//go:build onnx

package onnxfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	onnxbackend "github.com/gomlx/compute-onnx"
	"github.com/gomlx/compute-onnx/support/onnxruntime"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/onnx"
	"universal-transformer/engine"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/universal"
)

// Write writes the files of a model, whose parameters are in store, to a folder, and returns their paths.
func Write(dir string, store *model.Store, m universal.Model, s Sizes) (paths []string, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	graphs, err := files(m, s)
	if err != nil {
		return nil, err
	}
	if size := parameterBytes(store); size > maxBytes {
		return nil, fmt.Errorf("the parameters have %d MB, more than the %d that a file of ONNX can hold", size>>20, maxBytes>>20)
	}
	backend, err := onnxbackend.New("cpu")
	if err != nil {
		return nil, engine.Plain(err)
	}
	defer backend.Finalize()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range graphs {
		path := filepath.Join(dir, f.name)
		if err := f.write(path, backend, store); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// write writes one file.
func (f file) write(path string, backend compute.Backend, store *model.Store) error {
	exec, err := model.NewExec(withoutPad{backend}, store, f.graph)
	if err != nil {
		return err
	}
	defer exec.Finalize()
	defer removeFailed()()
	return atomicfile.Replace(path, func(w io.Writer) error {
		if err := onnx.Save(backend, exec, w, f.inputs, f.inputNames, f.outputNames); err != nil {
			return fmt.Errorf("this model cannot be expressed in ONNX: %w", engine.Plain(err))
		}
		return nil
	})
}

// maxBytes is the largest size of parameters: a file has at most 2 GiB.
const maxBytes = 1900 << 20

func parameterBytes(store *model.Store) (size int) {
	for v := range store.IterVariables() {
		size += int(v.Shape().ByteSize())
	}
	return size
}

// removeFailed returns a function that removes the file in which compute-onnx leaves a graph that ONNX Runtime rejects, in the working directory.
func removeFailed() func() {
	const name = "failed_model.onnx"
	if _, err := os.Lstat(name); err == nil {
		return func() {} // someone else's
	}
	return func() { _ = os.Remove(name) }
}

// withoutPad is a backend without the operation Pad, which compute-onnx v0.1.0 lists but does not have.
type withoutPad struct{ compute.Backend }

// Capabilities returns those of the backend without Pad.
func (b withoutPad) Capabilities() compute.Capabilities {
	c := b.Backend.Capabilities()
	c.Operations = maps.Clone(c.Operations)
	delete(c.Operations, compute.OpTypePad)
	return c
}

// libraryVariable names the library of ONNX Runtime.
const libraryVariable = "ONNXRUNTIME_SHARED_LIBRARY_PATH"

// checkLibrary returns an error unless the library of ONNX Runtime is installed. Without it, compute-onnx would try to download it.
func checkLibrary() error {
	path := os.Getenv(libraryVariable)
	if path == "" {
		folder, err := onnxruntime.GetInstallPath()
		name, wrong := onnxruntime.GetLibFilename()
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		path = filepath.Join(folder, name)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the library of ONNX Runtime is needed: %w; set %s to libonnxruntime.so, which the Python package onnxruntime has too", err, libraryVariable)
	}
	return nil
}
