package runlog

import (
	"io"
	"maps"
	"os"
	"path/filepath"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/regularfile"
	"universal-transformer/internal/safetensors"
)

const modelFile = "model.safetensors"

// WriteExport writes export/config.json and then export/model.safetensors, for other programs, and returns the path of export. config
// must encode to a JSON object. The key "version" is added to the metadata. WriteExport also works on a run that is open for reading.
func (r *Run) WriteExport(model *safetensors.File, config any) (string, error) {
	dir := r.path(exportDir)
	return dir, WriteExport(dir, model, config)
}

// ExportDir returns the path of export/.
func (r *Run) ExportDir() string { return r.path(exportDir) }

// WriteExportFile writes another file of export.
func (r *Run) WriteExportFile(name string, data []byte) error {
	return WriteExportFile(r.path(exportDir), name, data)
}

// WriteExportFile is like [Run.WriteExportFile] for any directory, which is created if necessary.
func WriteExportFile(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, name), data)
}

// ReadExportFile returns the content of a file of an export, or of another file in its place.
func ReadExportFile(dir, name string) ([]byte, error) {
	return regularfile.Read(filepath.Join(dir, name))
}

// WriteExport is like [Run.WriteExport] for any directory, which is created if necessary.
func WriteExport(dir string, model *safetensors.File, config any) error {
	content, err := withVersion(config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	metadata := maps.Clone(model.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[versionKey] = Version()
	if err := atomicfile.Write(filepath.Join(dir, configFile), content); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, modelFile), func(w io.Writer) error {
		return safetensors.Write(w, &safetensors.File{Metadata: metadata, Tensors: model.Tensors})
	})
}

// ReadExport reads a directory written by WriteExport. config is decoded strictly; if it is nil, it is not read.
func ReadExport(dir string, config any) (*safetensors.File, error) {
	if config != nil {
		if err := readStamped(filepath.Join(dir, configFile), config); err != nil {
			return nil, err
		}
	}
	f, err := regularfile.Open(filepath.Join(dir, modelFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safetensors.Read(f)
}
