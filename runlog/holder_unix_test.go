//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runlog

import (
	"os"
	"path/filepath"
	"testing"
)

// A lock file names its process and its host, unless the process has not yet written them, or is of a version that wrote no host.
func TestHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if got := holder(path); got != "unknown" {
		t.Errorf("no file: %q", got)
	}
	for content, want := range map[string]string{"": "unknown", "\n": "unknown", "12\n": "12", "12\n\n": "12", "12\nnode7\n": "12 on node7"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := holder(path); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}
