package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A damaged archive is reported by name; nothing is downloaded instead.
// Caught when planted: an archive that cannot be opened treated as missing.
func TestDamagedArchiveIsNamed(t *testing.T) {
	for _, name := range []string{"tasks_1-20_v1-2.tar.gz", "tasks_1-20_v1-2.tar.xz", "other.tar.gz"} {
		path := write(t, name, "\x1f\x8b cut short")
		dir := filepath.Dir(path)
		if name == "other.tar.gz" {
			dir = path // the archive itself
		}
		r := ut(t, "data", "babi", "--dir", dir)
		checkFailure(t, r, 1, path, "get it again")
	}
}

// A download removes the files of killed downloads, but not those of downloads that may still be running, nor files whose names only resemble
// them. Caught when planted: any text in place of the number.
func TestStaleTransfers(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".tasks_1-20_v1-2.tar.gz.1.tmp": 2 * maxFetchTime, ".tasks_1-20_v1-2.tar.gz.2.tmp": 0, ".other.1.tmp": 2 * maxFetchTime,
		".tasks_1-20_v1-2.tar.gz.mine.tmp": 2 * maxFetchTime} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(filepath.Join(dir, "tasks_1-20_v1-2.tar.gz"))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) != 3 || strings.Contains(strings.Join(left, " "), "gz.1.tmp") {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The files of an archive are unpacked from any folder and checked. Files that differ from the published ones are reported, and damaged ones
// with their line. Downloaded archives are removed after unpacking.
// Caught when planted: files unpacked with their folders, a file with a bad line accepted.
func TestDataSets(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "all.tar.gz")
	files := map[string]string{
		"set/numpred.val": "VBZ\tthe key\nVBP\tthe keys\n", "set/README": "x",
		"set/lambada_test_plain_text.txt": "he saw . then anna\n", "set/lambada_development_plain_text.txt": "he saw . then anna\n",
		"set/train-novels/Romance/1.txt": "He saw Anna.",
	}
	for k := 1; k <= 5; k++ {
		files[fmt.Sprintf("set/numpred.test.%d", k)] = "VBP\tthe keys of it\n"
	}
	writeTar(t, archive, files)
	dir := filepath.Join(t.TempDir(), "new")
	r := ut(t, "data", "linzen", "--archive", archive, "--dir", dir)
	if r.code != 0 || !strings.Contains(r.stdout, "numpred.val: 2 rows, not the published file, which has 15772") {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 6 {
		t.Errorf("unpacked: %q", left)
	}
	if err := os.Remove(filepath.Join(dir, "numpred.test.4")); err != nil {
		t.Fatal(err)
	}
	if r := ut(t, "data", "linzen", "--dir", dir); r.code != 1 || !strings.Contains(r.stderr, "numpred.test.4 is missing") {
		t.Errorf("%+v", r)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(archive))))
	defer server.Close()
	lambada := filepath.Join(t.TempDir(), "lambada")
	r = ut(t, "data", "lambada", "--from", server.URL+"/all.tar.gz", "--dir", lambada)
	if r.code != 0 || !strings.Contains(r.stdout, "train-novels: 1 novels") || !strings.Contains(r.stderr, "downloading") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(lambada, "all.tar.gz")); err == nil {
		t.Error("the archive is kept")
	}
	if err := os.WriteFile(filepath.Join(lambada, "lambada_test_plain_text.txt"), []byte("he saw . then anna\nanna\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ut(t, "data", "lambada", "--dir", lambada); r.code != 1 || !strings.Contains(r.stderr, "lambada_test_plain_text.txt:2: a passage has at least two words") {
		t.Errorf("%+v", r)
	}
	if r := ut(t, "data", "gutenberg", "--archive", archive, "--dir", dir); r.code != 1 || !strings.Contains(r.stderr, "no file of the data set is in it") {
		t.Errorf("%+v", r)
	}
	if r := ut(t, "data", "gutenberg", "--archive", archive, "--from", server.URL); r.code != 2 || !strings.Contains(r.stderr, "give only one of them") {
		t.Errorf("%+v", r)
	}
}

// Files of an archive or a download that cannot be read replace none that are there, and neither does a downloaded archive. Caught when
// planted: files checked after they are moved; a file read together with another one checked without it; an archive of the same name
// overwritten.
func TestBadFilesReplaceNone(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	writeTar(t, filepath.Join(root, "good.tar.gz"), map[string]string{
		"subj_agr_filtered.text": "the key is here <eos>\n", "subj_agr_filtered.gold": "2\tis\tare\t0\n",
	})
	if r := ut(t, "data", "linzen", "--archive", filepath.Join(root, "good.tar.gz"), "--dir", dir); r.code != 0 || !strings.Contains(r.stdout, "1 pairs") {
		t.Fatalf("%+v", r)
	}
	bad := map[string]string{"subj_agr_filtered.text": "the key are here\n the key is\n"}
	writeTar(t, filepath.Join(root, "bad.tar.gz"), bad)
	writeTar(t, filepath.Join(dir, "bad.tar.gz"), bad) // the user's own
	if err := os.WriteFile(filepath.Join(root, "subj_agr_filtered.text"), []byte(bad["subj_agr_filtered.text"]), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	before := contents(t, dir)
	for _, args := range [][]string{
		{"--archive", filepath.Join(root, "bad.tar.gz")}, {"--from", server.URL + "/bad.tar.gz"}, {"--from", server.URL + "/subj_agr_filtered.text"},
	} {
		r := ut(t, append([]string{"data", "linzen", "--dir", dir}, args...)...)
		if r.code != 1 || !strings.Contains(r.stderr, "ut: "+args[1]+": subj_agr_filtered.") || !strings.HasSuffix(r.stderr, ": no file is replaced: get it again\n") {
			t.Errorf("%q: %+v", args, r)
		}
		if after := contents(t, dir); !maps.Equal(after, before) {
			t.Errorf("%q: the folder has %q, before %q", args, after, before)
		}
	}
}

// contents returns the contents of the files in a folder by their names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(content)
	}
	return all
}

// A transfer that ends too early is an error that names the address, and nothing is left of it.
// Caught when planted: the bare error of the connection, a temporary file that stays.
func TestFetchCutShort(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("0123456789"))
	}))
	defer server.Close()
	dir := t.TempDir()
	for _, args := range [][]string{{"data", "lambada"}, {"data", "babi"}} {
		r := ut(t, append(args, "--from", server.URL+"/all.tar.gz", "--dir", dir)...)
		if r.code != 1 || !strings.Contains(r.stderr, "ut: "+server.URL+"/all.tar.gz: 10 bytes came, and then: unexpected EOF: fetch it again") {
			t.Errorf("%+v", r)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}

// writeTar writes a compressed archive of files by their names.
func writeTar(t *testing.T, path string, files map[string]string) {
	t.Helper()
	var content bytes.Buffer
	compressed := gzip.NewWriter(&content)
	archive := tar.NewWriter(compressed)
	for name, text := range files {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))})
		if _, writing := archive.Write([]byte(text)); err != nil || writing != nil {
			t.Fatal(err, writing)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close(), os.WriteFile(path, content.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
