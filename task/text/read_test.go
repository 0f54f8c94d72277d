package text

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The text of a folder is that of its text files in the order of their paths, each of them ending with a line feed and without its byte
// order mark. Lines that end with CR LF end with LF alone. The folder may be a link. Caught when planted: marks inside, files joined
// without a line feed, hidden files, a link that is not followed.
func TestReadFolder(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("packed"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"b.txt": "\ufefftwo\n\ufeffthree\n", "a.txt": "one", "c/d.TXT": "four\n", "e.txt.gz": zipped.String(), "f.md": "no", ".g.txt": "no", ".h/i.txt": "no", "empty.txt": "",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, notes, err := read(folder)
	if err != nil || content != "one\ntwo\nthree\nfour\npacked\n" || !strings.Contains(strings.Join(notes, ""), "5 text files, 1 other files are not read") {
		t.Errorf("%q, %q, %v", content, notes, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if linked, _, err := read(link); err != nil || linked != content {
		t.Errorf("a linked folder: %q, %v", linked, err)
	}
	one, _, err := read(filepath.Join(folder, "e.txt.gz"))
	if err != nil || one != "packed" {
		t.Errorf("a compressed file: %q, %v", one, err)
	}
	windows := filepath.Join(folder, "windows.md")
	if err := os.WriteFile(windows, []byte("one\r\n\r\n\ufefftwo\rthree\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, _, err := read(windows)
	if err != nil || lines != "one\n\ntwo\rthree\n" {
		t.Errorf("line ends of Windows: %q, %v", lines, err)
	}
	if _, _, err := read(filepath.Join(folder, ".h")); err != nil {
		t.Errorf("a hidden folder that is named: %v", err)
	}
	if _, _, err := read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no file named .txt") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, _, err := read("-"); err == nil || !strings.Contains(err.Error(), "the standard input cannot be read") {
		t.Errorf("the standard input: %v", err)
	}
}

// The command that an error for a file of a folder names makes the folder readable, with its text once, and keeps the file under another
// name.
// Caught when planted: a file that is renamed to another text, a damaged file that stays, a command without the renaming.
func TestCommandsRepairAFolder(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	damaged := compressed(t, strings.Repeat("good text\n", 9)+strings.Repeat("lost ", 9))
	for name, c := range map[string]struct{ file, content, want string }{
		"Latin-1":  {"b c.txt", "caf\xe9\n", "one\ncafé\n"},
		"UTF-16":   {"b.txt", "\xff\xfea\x00\n\x00", "one\na\n"},
		"CR":       {"b.txt", "x\ry\r", "one\nx\ny\n"},
		"NUL":      {"b.txt", "x\x00y\n", "one\nxy\n"},
		"packed":   {"b.txt.gz", compressed(t, "caf\xe9\n"), "one\ncafé\n"},
		"cut off":  {"b.txt.gz", damaged[:len(damaged)-4], "one\n" + strings.Repeat("good text\n", 9) + strings.Repeat("lost ", 9) + "\n"},
		"packed 2": {"b.TXT.gz", compressed(t, "x\x00y\n"), "one\nxy\n"},
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, c.file)
		for path, content := range map[string]string{filepath.Join(folder, "a.txt"): "one\n", path: c.content} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := read(folder)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s: %v", name, err)
		}
		_, command, _ := strings.Cut(err.Error(), "with: ")
		program, _, _ := strings.Cut(command, " ")
		if _, missing := exec.LookPath(program); missing != nil {
			continue
		}
		out, failed := exec.CommandContext(t.Context(), shell, "-c", command).CombinedOutput()
		if content, _, err := read(folder); err != nil || failed != nil || content != c.want {
			t.Errorf("%s: after %s: %q, %v, %v, %s", name, command, content, err, failed, out)
		}
		if kept, err := os.ReadFile(path + ".old"); err != nil || string(kept) != c.content {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := read(path); err == nil {
			t.Errorf("%s: the file is still there", name)
		}
	}
}

// compressed returns a text compressed with gzip.
func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
