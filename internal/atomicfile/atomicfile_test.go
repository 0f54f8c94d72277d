package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"universal-transformer/internal/atomicfile"
)

// A disk that fills up in the middle of a file leaves the file that was there, and nothing else.
func TestReplaceOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := atomicfile.Write(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Replace(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("aft")); err != nil {
			t.Fatal(err)
		}
		return &fs.PathError{Op: "write", Path: path + ".tmp", Err: syscall.ENOSPC}
	})
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != path+": "+syscall.ENOSPC.Error() { // the other name says nothing to anybody
		t.Errorf("the error is %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left over: %v", entries)
	}
	if err := atomicfile.Write(path, []byte("after")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "after" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// What a killed process left is swept away, and nothing else: no file of the user's whose name resembles one.
// Caught when planted: every hidden file that ends in .tmp; a file that another program writes.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	kept := []string{".123.tmp", ".hidden", ".model..tmp", ".model.12a.tmp", ".model.tmp", ".other.123.tmp", ".tmp", "model", "model.123.tmp", "notes.tmp"}
	for _, name := range append(kept, ".model.123.tmp") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Sweep(dir, func(file string) bool { return file == "model" }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || !slices.Equal(left, kept) {
		t.Errorf("left: %q, %v", left, err)
	}
	for name, want := range map[string]string{".model.safetensors.7.tmp": "model.safetensors", ".a.1.2.tmp": "a.1"} {
		if file, ok := atomicfile.Unfinished(name); file != want || !ok {
			t.Errorf("%s was to become %q, %v", name, file, ok)
		}
	}
}

// A device is written to, not replaced.
func TestDevice(t *testing.T) {
	device := filepath.Join(t.TempDir(), "device")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Write(device, []byte("gone")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(device); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is a file now: %v", err)
	}
}

// A file is on the disk before it gets its name, and then its name is.
// Caught when planted: either sync left out, or after the rename.
func TestSyncs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	var synced []string
	defer func(before func(*os.File) error) { atomicfile.Sync = before }(atomicfile.Sync)
	atomicfile.Sync = func(f *os.File) error {
		content, _ := os.ReadFile(f.Name())
		_, err := os.Stat(path)
		synced = append(synced, fmt.Sprintf("%s %q %v", filepath.Ext(f.Name()), content, err == nil))
		return nil
	}
	if err := atomicfile.Write(path, []byte("all")); err != nil {
		t.Fatal(err)
	}
	want := []string{`.tmp "all" false`, fmt.Sprintf("%s %q %v", filepath.Ext(filepath.Dir(path)), "", true)}
	if !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	atomicfile.Sync = func(*os.File) error { return syscall.EIO }
	if err := atomicfile.Write(path, []byte("more")); !errors.Is(err, syscall.EIO) {
		t.Errorf("a disk that fails: %v", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "all" {
		t.Errorf("then the file holds %q, %v", content, err)
	}
}

// A file whose folders another goroutine makes meanwhile can be written, as one whose folders exist.
// Caught when planted: the folder that was missing taken for one in the file's place.
func TestCheckNewBesideOthers(t *testing.T) {
	root := t.TempDir()
	for i := range 2000 {
		folder := filepath.Join(root, strconv.Itoa(i), "results")
		made := make(chan error)
		go func() { made <- os.MkdirAll(folder, 0o700) }()
		if err := atomicfile.CheckNew(filepath.Join(folder, "result.json")); err != nil {
			t.Error(err)
		}
		if err := <-made; err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(root, "0", "results"):                      " is a folder: name a file",
		filepath.Join(root, "file", "results", "result.json"):    " cannot be written: not a directory",
		filepath.Join(root, "missing", "results", "result.json"): "",
	} {
		if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.CheckNew(path); (want == "") != (err == nil) || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "missing")); err == nil {
		t.Error("the check makes folders")
	}
}
