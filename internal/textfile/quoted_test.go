package textfile

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell reads a quoted path as one argument, the path itself. Plain paths are not quoted.
// Caught when planted: a quote that is not escaped, brackets and dollars taken for plain.
func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{"runs/a-1_b.json": "runs/a-1_b.json", "größe": "größe", "": "''", "my run": "'my run'", "it's": `'it'\''s'`} {
		if got := quotedFor(path, "linux"); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{`C:\runs\a`: `"C:\runs\a"`, `runs/a`: `runs/a`, `C:\my runs`: `"C:\my runs"`} {
		if got := quotedFor(path, "windows"); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, path := range []string{"my run", "a'b", "a$HOME", "a`b`", "a[1]*?", `a\b`, "a;b|c&d", "~", "a\"b", "a#b", "a(b)<c>!", "ü ", "a{1,2}"} {
		out, err := exec.CommandContext(t.Context(), shell, "-c", "printf '%s|' "+Quoted(path)+" end").Output()
		if got := string(out); err != nil || got != path+"|end|" {
			t.Errorf("%q is read as %q, %v", path, strings.TrimSuffix(got, "|end|"), err)
		}
	}
}
