package babi_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// moves is n stories of five questions in the form of task 1: who went where last.
func moves(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	people := strings.Fields("Mary John Daniel Sandra Bill Fred")
	rooms := strings.Fields("kitchen bathroom garden office hallway bedroom")
	var b strings.Builder
	for range n {
		where, at := map[string]string{}, map[string]int{}
		line := 0
		for range 5 {
			for range 2 {
				line++
				who, room := people[rng.IntN(6)], rooms[rng.IntN(6)]
				where[who], at[who] = room, line
				fmt.Fprintf(&b, "%d %s went back to the %s.\n", line, who, room)
			}
			line++
			known := slices.Sorted(maps.Keys(where))
			who := known[rng.IntN(len(known))]
			fmt.Fprintf(&b, "%d Where is %s? \t%s\t%d\n", line, who, where[who], at[who])
		}
	}
	return b.String()
}

// small is a distribution of two tasks.
func small() map[string]string {
	return map[string]string{
		"tasks_1-20_v1-2/en/qa1_single-supporting-fact_train.txt": moves(1, 100),
		"tasks_1-20_v1-2/en/qa1_single-supporting-fact_test.txt":  moves(2, 80),
		"tasks_1-20_v1-2/en/qa3_three-supporting-facts_test.txt":  moves(4, 20),
		"tasks_1-20_v1-2/en-valid/qa1_train.txt":                  moves(1, 90),
		"tasks_1-20_v1-2/en-valid/qa1_valid.txt":                  moves(3, 10),
		"tasks_1-20_v1-2/en-valid/qa1_test.txt":                   moves(2, 80),
		"tasks_1-20_v1-2/README.txt":                              "1 is the loneliest number",
		"tasks_1-20_v1-2/shuffled/qa1_train.txt":                  "1 abc\n",
	}
}

// folder writes files below a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func tarred(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(files[name])), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func xzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
