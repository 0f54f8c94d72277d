package golden

import (
	"os"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
)

// Whatever config a file of reference vectors has, it is refused in one line or describes a model that is valid.
func FuzzParse(f *testing.F) {
	files, err := List("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		file, err := safetensors.Decode(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file.Metadata["config"])
	}
	f.Fuzz(func(t *testing.T, config string) {
		data, err := safetensors.Encode(&safetensors.File{Metadata: map[string]string{"config": config}})
		if err != nil {
			return
		}
		c, err := parse("case", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		if err := c.model().Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
