package regularfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/regularfile"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := regularfile.Read(path); err != nil || string(got) != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := regularfile.Read(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for place, want := range map[string]string{filepath.Dir(path): " is a folder: name a file", os.DevNull: " is a device: name a file"} {
		_, err := regularfile.Read(place)
		if wrong := (*regularfile.Error)(nil); !errors.As(err, &wrong) || wrong.Path != place || err.Error() != place+want {
			t.Errorf("%v, want %q", err, place+want)
		}
		if got, want := regularfile.Advised(err), strings.TrimSuffix(place+want, "name a file")+"restore the file"; got == nil || got.Error() != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

// A file that is missing or cannot be opened must be restored; other errors have their own advice. Caught when planted: advice for any error.
func TestAdvised(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	_, missing := regularfile.Read(path)
	if err := regularfile.Advised(missing); !errors.Is(err, fs.ErrNotExist) || err.Error() != missing.Error()+": restore the file, or make it readable" {
		t.Error(err)
	}
	for _, other := range []error{nil, errors.New("its first line is empty")} {
		if err := regularfile.Advised(other); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
}

// A pipe that nobody writes to is refused without waiting, as is a link to one.
// Caught when planted: a file that is opened before it is looked at.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := makePipe(path); err != nil {
		t.Skip(err)
	}
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if _, err := regularfile.Open(name); err == nil || !strings.HasPrefix(err.Error(), name+" is a pipe") {
			t.Error(err)
		}
	}
}
