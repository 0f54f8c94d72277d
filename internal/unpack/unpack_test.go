package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// files is what archives of tests hold, in this order.
var files = [][2]string{{"set/one.txt", "one"}, {"set/deep/two.txt", "two"}, {"set/other.bin", "x"}}

func tarOf(t *testing.T, files [][2]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// packed is the same files in every kind of archive.
func packed(t *testing.T) map[string]string {
	t.Helper()
	plain := tarOf(t, files)
	var gz, x, z bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write([]byte(plain))
	_ = g.Close()
	w, err := xz.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(plain))
	_ = w.Close()
	zw := zip.NewWriter(&z)
	for _, f := range files {
		entry, err := zw.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = entry.Write([]byte(f[1]))
	}
	_ = zw.Close()
	return map[string]string{"a.tar": plain, "a.tar.gz": gz.String(), "a.tar.xz": x.String(), "a.zip": z.String(),
		"nested.tar": tarOf(t, [][2]string{files[0], {"set/inner.tar", tarOf(t, files[1:])}})}
}

func texts(name string) (string, bool) {
	return strings.TrimPrefix(name, "set/"), path.Ext(name) == ".txt"
}

func archived(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// into unpacks the texts of an archive.
func into(t *testing.T, folder, file string) ([]string, error) {
	t.Helper()
	return Archive{Path: file, Name: file, Wanted: texts}.Into(t.Context(), folder)
}

// Every kind of archive gives the files that are wanted, in their places, and no others.
// Caught when planted: an archive within an archive passed over, all files written.
func TestInto(t *testing.T) {
	for name, content := range packed(t) {
		folder := t.TempDir()
		written, err := into(t, folder, archived(t, name, content))
		if err != nil || len(written) != 2 {
			t.Errorf("%s: %q, %v", name, written, err)
		}
		for place, want := range map[string]string{"one.txt": "one", "deep/two.txt": "two"} {
			if got, err := os.ReadFile(filepath.Join(folder, place)); err != nil || string(got) != want {
				t.Errorf("%s: %s is %q, %v", name, place, got, err)
			}
		}
		if _, err := os.Stat(filepath.Join(folder, "other.bin")); err == nil {
			t.Errorf("%s: what nobody wanted is written", name)
		}
	}
}

// What cannot be used is named, and nothing is written outside of the folder.
func TestRefuses(t *testing.T) {
	all := packed(t)
	for want, content := range map[string][2]string{
		"get it again":                     {"a.tar.gz", all["a.tar.gz"][:20]},
		"damaged":                          {"b.tar.gz", all["a.tar.gz"][:len(all["a.tar.gz"])-30]},
		"neither gzip":                     {"a.txt", "one"},
		"leads out of the folder":          {"a.tar", tarOf(t, [][2]string{{"set/../../x.txt", "x"}})},
		"no file of the data set is in it": {"a.tar", tarOf(t, files[2:])},
		"is in it: name the archive":       {"empty.zip", "PK\x05\x06" + strings.Repeat("\x00", 18)},
	} {
		folder := filepath.Join(t.TempDir(), "below", "folder")
		if _, err := into(t, folder, archived(t, content[0], content[1])); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(filepath.Join(folder, "..", "..", "x.txt")); err == nil {
			t.Error("a file is written outside of the folder")
		}
	}
}

// A refused archive leaves nothing: no file before the bad one, no temporary file, no folder; files that are there keep their content.
// Caught when planted: files written as they come, a folder that stays.
func TestAllOrNothing(t *testing.T) {
	bad := archived(t, "a.tar", tarOf(t, [][2]string{{"set/one.txt", "new"}, {"set/deep/two.txt", "two"}, {"set/../../x.txt", "x"}}))
	root := t.TempDir()
	if _, err := into(t, filepath.Join(root, "below", "folder"), bad); err == nil {
		t.Fatal("it is accepted")
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(root, "one.txt"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := into(t, root, bad); err == nil {
		t.Fatal("it is accepted")
	}
	left, err := os.ReadDir(root)
	if content, _ := os.ReadFile(filepath.Join(root, "one.txt")); err != nil || len(left) != 1 || string(content) != "old" {
		t.Errorf("left are %v with %q, %v", left, content, err)
	}
}

// A folder in the place of a file, or a file in that of a folder, is an error that names it, and no other file or folder changes.
// Caught when planted: files moved before all places are known; new folders that stay; the outermost removed before those in it.
func TestPlaceTaken(t *testing.T) {
	archive := archived(t, "a.tar", tarOf(t, [][2]string{{"set/one.txt", "new"}, {"set/deep/er/two.txt", "two"}, {"set/deep/or/two.txt", "2"}, {"set/three.txt", "3"}}))
	for taken, want := range map[string]string{"three.txt/own": "three.txt is a folder: remove it", "deep": "deep: not a directory"} {
		root := t.TempDir()
		path := filepath.Join(root, taken)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{filepath.Join(root, "one.txt"), path} {
			if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := listed(t, root)
		written, err := into(t, root, archive)
		if err == nil || !strings.Contains(err.Error(), want) || len(written) > 0 {
			t.Errorf("%s: %q, %v, want %q", taken, written, err, want)
		}
		if after := listed(t, root); after != before {
			t.Errorf("%s: %q, before %q", taken, after, before)
		}
	}
}

// listed lists what is in a folder, files with their contents.
func listed(t *testing.T, root string) (list string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			list += path + "\n"
			return err
		}
		content, err := os.ReadFile(path)
		list += path + ": " + string(content) + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Archives in archives are read to a limited depth.
func TestNesting(t *testing.T) {
	content := tarOf(t, files[:1])
	for depth := 1; depth <= maxDepth+1; depth++ {
		content = tarOf(t, [][2]string{{"inner.tar", content}})
		_, err := into(t, t.TempDir(), archived(t, "a.tar", content))
		if deep := depth > maxDepth; deep != (err != nil) || deep && !strings.Contains(err.Error(), "nested more than 3 deep") {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

// zeros returns a zip with a file of n zeros.
func zeros(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("set/one.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<20); n > 0; n -= len(block) {
		if _, err := f.Write(block[:min(n, len(block))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Contents are not held in memory.
// Caught when planted: files read as a whole.
func TestMemoryIsSmall(t *testing.T) {
	const size = 64 << 20
	file, folder := archived(t, "a.zip", zeros(t, size)), t.TempDir()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	written, err := into(t, folder, file)
	runtime.ReadMemStats(&after)
	if err != nil || len(written) != 1 {
		t.Fatal(written, err)
	}
	if info, err := os.Stat(written[0]); err != nil || info.Size() != size {
		t.Errorf("%v, %v", info, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > size/8 {
		t.Errorf("%d bytes are allocated for %d", used, size)
	}
}

// Whatever an archive holds, it is refused and leaves nothing, or written below the folder.
func FuzzInto(f *testing.F) {
	f.Add([]byte("PK\x03\x04"), "a.zip")
	f.Add([]byte{0x1f, 0x8b, 8, 0}, "a.tar.gz")
	f.Add(make([]byte, 1024), "a.tar")
	f.Fuzz(func(t *testing.T, content []byte, name string) {
		if name != filepath.Base(name) || strings.ContainsRune(name, 0) || len(name) > 50 || name == "." || name == ".." {
			return
		}
		root := t.TempDir()
		file := filepath.Join(root, "archive-"+name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		written, err := Archive{Path: file, Name: file, Wanted: func(name string) (string, bool) { return name, true }}.Into(t.Context(), filepath.Join(root, "out"))
		if _, there := os.Stat(filepath.Join(root, "out")); err != nil && len(written) == 0 && there == nil {
			t.Fatalf("%v, but a folder is left", err)
		}
		for _, path := range written {
			if !strings.HasPrefix(path, filepath.Join(root, "out")+string(filepath.Separator)) {
				t.Fatalf("%q is written", path)
			}
		}
	})
}
