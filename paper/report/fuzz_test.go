package report

import (
	"os"
	"path/filepath"
	"testing"
)

// The files below a folder of results that are no results are refused or read, whatever is in them: a page can be written from what is read.
func FuzzFiles(f *testing.F) {
	for _, pattern := range []string{"paired/*.json", "searches/*.json"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "results", pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "rates-translation-transformer-news.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if p, err := readPaired(file); err == nil && p.Validate() != nil {
			t.Errorf("an invalid test was read: %v", p.Validate())
		}
		s, err := readSearch(file[:len(file)-len(".json")], nil)
		if err != nil {
			return
		}
		if _, err := Render(Input{Searches: []Search{s}}, "results", func(string) bool { return false }); err != nil {
			t.Errorf("a search was read, but no page can be written: %v", err)
		}
	})
}
