package runlog

import (
	"io"
	"maps"
	"os"
	"path/filepath"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/safetensors"
)

const modelFile = "model.safetensors"

// WriteExport writes export/config.json, which must be a JSON object, and then export/model.safetensors, for use by other programs, and
// returns the path of export. It also works on a run that is open for reading only. It adds the key "version" to the metadata.
func (r *Run) WriteExport(model *safetensors.File, config any) (string, error) {
	dir := r.path(exportDir)
	return dir, WriteExport(dir, model, config)
}

// WriteExport does the same for any directory, which is created if necessary.
func WriteExport(dir string, model *safetensors.File, config any) error {
	content, err := stamped(config)
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

// ReadExport reads a directory written by WriteExport. config is decoded strictly; nil skips it.
func ReadExport(dir string, config any) (*safetensors.File, error) {
	if config != nil {
		if err := readStamped(filepath.Join(dir, configFile), config); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(filepath.Join(dir, modelFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safetensors.Read(f)
}
