package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The tests of every task that a configuration can name run the conformance suite: a test file of its package calls tasktest.Run and has a value
// of its type.
// Caught when planted: a package whose tests do not call it.
func TestEveryTaskRunsTheSuite(t *testing.T) {
	for _, r := range (tasks{}).rows() {
		of := reflect.TypeOf(r.defaults)
		_, folder, _ := strings.Cut(of.PkgPath(), "/task/")
		files, err := filepath.Glob(filepath.Join("..", "task", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		value, runs := regexp.MustCompile(`\b`+of.Name()+`\{`), false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runs = runs || strings.Contains(string(text), "tasktest.Run") && value.Match(text)
		}
		if !runs {
			t.Errorf("task.%s: no test file below task/%s that calls tasktest.Run has a value of the type %v", r.key, folder, of)
		}
	}
}
