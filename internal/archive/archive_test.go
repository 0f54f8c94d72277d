package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
	"universal-transformer/internal/archive"
)

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Files are the same from a folder and from archives of every kind, below any folder of theirs, compressed or not.
// Caught when planted: names compared at their start, .gz not unpacked.
func TestFilesAreTheSame(t *testing.T) {
	files := tarred(t, "./data/tok/a.en", "one\n", "data/b.en.gz", string(zipped(t, []byte("two\n"))), "data/xtok/a.en", "other\n")
	var packed bytes.Buffer
	w, err := xz.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(files); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "tok"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tok/a.en": []byte("one\n"), "b.en.gz": zipped(t, []byte("two\n"))} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{folder, write(t, "a.tar", files), write(t, "a.tgz", zipped(t, files)), write(t, "a.tar.xz", packed.Bytes())} {
		a, err := archive.Open(path, "tok/a.en", "b.en", "c.en")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"tok/a.en": "one\n", "b.en": "two\n"} {
			f, err := a.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(f); err != nil || string(got) != want {
				t.Errorf("%s of %s is %q, %v", name, path, got, err)
			}
			f.Close()
		}
		if _, err := a.Open("c.en"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "c.en") {
			t.Errorf("c.en of %s: %v", path, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := zipped(t, tarred(t, "a.en", strings.Repeat("x", 5000)))
	for name, c := range map[string]struct{ path, want string }{
		"missing": {filepath.Join(t.TempDir(), "none"), "no such file"},
		"text":    {write(t, "a.txt", []byte("one\n")), "neither a folder nor an archive"},
		"cut":     {write(t, "a.tgz", whole[:len(whole)-20]), "damaged or cut short"},
		"twice":   {write(t, "b.tar", tarred(t, "x/a.en", "1", "y/a.en", "2")), "it contains a.en twice"},
	} {
		if _, err := archive.Open(c.path, "a.en"); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Files of an archive are streams: neither finding nor reading them takes memory for their content.
// Caught when planted: contents kept.
func TestMemoryIsSmall(t *testing.T) {
	const size = 64 << 20
	path := write(t, "a.tar.gz", zipped(t, tarred(t, "a.en", strings.Repeat("\x00", size), "b.en", "one\n")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := archive.Open(path, "a.en", "b.en")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"a.en": size, "b.en": 4} {
		f, err := a.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, f); err != nil || n != want {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		f.Close()
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/8 {
		t.Errorf("%d bytes are allocated for %d", used, size)
	}
}

// An archive that was replaced after it was opened is an error, and more bytes than allowed are.
func TestChangedArchive(t *testing.T) {
	path := write(t, "a.tar", tarred(t, "a.en", "one\n", "b.en", "two\n"))
	a, err := archive.Open(path, "a.en", "b.en")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, tarred(t, "c.en", "three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.en", "b.en"} {
		if _, err := a.Open(name); err == nil || !strings.Contains(err.Error(), "a.tar: "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := io.Copy(io.Discard, archive.Limit(strings.NewReader("12345"), 4)); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// FuzzArchive: whatever an archive holds, it opens, or says why not in one line.
func FuzzArchive(f *testing.F) {
	f.Add(tarred(f, "a.en", "one\n"))
	f.Add(zipped(f, tarred(f, "x/a.en.gz", "one\n")))
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := archive.Open(write(t, "a.tar", content), "a.en")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		if file, err := a.Open("a.en"); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(file, 1<<20))
			file.Close()
		}
	})
}
