package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Errors in a file for one system, and in a test for another, are found there and nowhere else, once each.
// Caught when planted: the target's system not passed on; tests left out; an error listed for each variant of its package.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n", "all.go": "package m\n\nimport \"os\"\n\nvar _ = os.Args\n", "a_windows.go": "package m\n\nfunc f() { missing() }\n",
		"a_darwin_test.go": "package m\n\nvar _ int = \"x\"\n", "a_test.go": "package m\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for target, want := range map[string]string{"windows/amd64": "a_windows.go:3:12: undefined: missing", "darwin/arm64": "a_darwin_test.go:3:13: cannot use", "linux/arm64": ""} {
		errs, err := check(target, "./...")
		if err != nil || (want == "") != (len(errs) == 0) || len(errs) > 1 || want != "" && !strings.Contains(errs[0], want) {
			t.Errorf("%s: %q, %v, want %q", target, errs, err, want)
		}
	}
	if _, err := check("windows", "./..."); err == nil || !strings.Contains(err.Error(), `"windows" is not a system and a processor`) {
		t.Errorf("%v", err)
	}
}
