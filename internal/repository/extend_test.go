package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedFile = regexp.MustCompile("`([a-z0-9_/]+/[a-z0-9_.]+\\.(?:go|md|py|js|json))`")

// The files that CONTRIBUTING.md names under "How to extend" exist. Caught when planted: the name of a file that does not exist.
func TestFilesToExtendExist(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## How to extend\n")
	section, _, ended := strings.Cut(section, "\n## ")
	names := namedFile.FindAllStringSubmatch(section, -1)
	if !ended || len(names) < 30 {
		t.Fatalf("the section names %d files", len(names))
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("../..", name[1])); err != nil {
			t.Errorf("How to extend: %v", err)
		}
	}
}
