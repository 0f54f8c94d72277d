package recipes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
)

// The authors' table of sentences is found uncompressed in the default folder and in a given one, and compressed if both are there.
// Caught when planted: uncompressed only in a given folder.
func TestUncompressed(t *testing.T) {
	recipe, err := recipes.Named("agreement/verbs")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, folder := range []string{filepath.Join("data", "linzen"), "given"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ write, want string }{{"", ".tsv.gz"}, {"agr_50_mostcommon_10K.tsv", ".tsv"}, {"agr_50_mostcommon_10K.tsv.gz", ".tsv.gz"}} {
		for folder, data := range map[string]map[string]string{filepath.Join("data", "linzen"): nil, "given": {"linzen": "given"}} {
			if c.write != "" {
				if err := os.WriteFile(filepath.Join(folder, c.write), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run, err := recipe.WithData(data)
			if err != nil {
				t.Fatal(err)
			}
			if path := run.Files()[0].Path; filepath.Dir(path) != folder || !strings.HasSuffix(path, "10K"+c.want) {
				t.Errorf("%s, after %q is written: %s", folder, c.write, path)
			}
		}
	}
}
