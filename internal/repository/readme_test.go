package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var goProgram = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// The programs that README shows compile, as they stand there.
// Caught when planted: a method that does not exist, an import too many.
func TestProgramsOfReadmeCompile(t *testing.T) {
	programs := goProgram.FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(programs) != 2 {
		t.Fatalf("README.md has %d programs, want one that decodes and a service", len(programs))
	}
	for i, program := range programs {
		source := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(source, []byte(program[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "vet", source).CombinedOutput(); err != nil {
			t.Errorf("program %d of README.md: %v\n%s", i+1, err, out)
		}
	}
}
