package babi_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
	"universal-transformer/task/babi"
)

// Folders, links to them and archives of every kind give the same questions. Caught when planted: a link that is not followed.
func TestFormsAgree(t *testing.T) {
	raw := tarred(t, small())
	root := folder(t, small())
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	want, err := babi.Parse("f", strings.NewReader(moves(1, 100)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].Task = 1
	}
	for _, path := range []string{
		filepath.Dir(write(t, babi.Archive, gzipped(t, raw))), filepath.Dir(write(t, "tasks_1-20_v1-2.tar.xz", xzipped(t, raw))),
		root, link, filepath.Join(root, "tasks_1-20_v1-2"), filepath.Join(root, "tasks_1-20_v1-2", "en"),
		write(t, "a.tar", raw), write(t, "a.tar.gz", gzipped(t, raw)), write(t, "a.tar.xz", xzipped(t, raw)), write(t, "misnamed.zip", gzipped(t, raw)),
	} {
		d, err := babi.Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got, err := d.Questions("en", 1, "train"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d questions, want %d, %v", path, len(got), len(want), err)
		}
		if !d.Has("en", 1, "test") || d.Has("en", 3, "train") {
			t.Errorf("%s: Has is wrong", path)
		}
	}
}

// Damaged archives, and what is no archive, are one clear line that names the file.
func TestOpenRefuses(t *testing.T) {
	raw := tarred(t, small())
	packed, squeezed := gzipped(t, raw), xzipped(t, raw)
	flipped := bytes.Clone(squeezed)
	flipped[len(flipped)/2] ^= 0x40
	var huge bytes.Buffer
	w := tar.NewWriter(&huge)
	if err := w.WriteHeader(&tar.Header{Name: "en/qa1_train.txt", Typeflag: tar.TypeReg, Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	twice := small()
	twice["copy/en/qa1_train.txt"] = moves(1, 1)
	for want, path := range map[string]string{
		"no such file":                       filepath.Join(t.TempDir(), "gone"),
		"nothing.tar: no files of bAbI":      write(t, "nothing.tar", tarred(t, map[string]string{"a.txt": "b"})),
		"no files of bAbI":                   folder(t, map[string]string{"a.txt": "b"}),
		"neither gzip nor xz":                write(t, "a.tar.gz", []byte("<html>not found</html>")),
		"damaged or cut short":               write(t, "cut.tar.gz", packed[:len(packed)/2]),
		"damaged or cut short: writeMatch":   write(t, "flip.tar.xz", flipped),
		"cannot be unpacked":                 write(t, "none.tar.gz", nil),
		"damaged or cut short: en/qa1_train": write(t, "huge.tar", huge.Bytes()),
		"are both en/qa1_train.txt":          folder(t, twice),
	} {
		d, err := babi.Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(path)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v, want %q", path, d, err, want)
		}
	}
}

func TestMissingAndBrokenFilesAreNamed(t *testing.T) {
	files := small()
	files["tasks_1-20_v1-2/en/qa3_three-supporting-facts_train.txt"] = moves(1, 3) + "7 lost\n"
	d, err := babi.Open(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Questions("en-10k", 3, "train"); err == nil || !strings.Contains(err.Error(), "en-10k/qa3_train.txt is missing") {
		t.Errorf("missing: %v", err)
	}
	if _, err := d.Questions("en", 3, "train"); err == nil || !strings.Contains(err.Error(), "qa3_three-supporting-facts_train.txt:46: number 7 follows 15") {
		t.Errorf("broken: %v", err)
	}
}

// The real files, where somebody says where they are: every one is read, and has the questions it should have, but for the 10k
// training files of task 3 (whole and divided), which some copies of the distribution lack.
func TestRealDistribution(t *testing.T) {
	path := os.Getenv("BABI")
	if path == "" {
		t.Skip("BABI is not set: name a folder or an archive of tasks_1-20_v1-2")
	}
	d, err := babi.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	read, total := 0, map[string]int{}
	for _, f := range d.Check() {
		if f.Task == 3 && f.Part == "train" && !d.Has(f.Set, 3, "train") {
			t.Log(f)
			continue
		}
		if f.Bad() {
			t.Error(f)
		}
		total[f.Set+" "+f.Part] += f.Questions
		read++
	}
	for _, part := range []string{"en train", "en test", "en-10k test", "en-valid test", "en-valid-10k test"} {
		if total[part] != 20000 {
			t.Errorf("%s: %d questions, want 20 times 1000", part, total[part])
		}
	}
	if n := total["en-valid train"] + total["en-valid valid"]; n != total["en train"] {
		t.Errorf("en-valid divides %d questions, en has %d", n, total["en train"])
	}
	if read < 198 {
		t.Errorf("%d files were read, want 198 or more", read)
	}
	twice := map[int]int{1: 16, 4: 741, 5: 1, 6: 4, 7: 11, 8: 7, 9: 10, 11: 25, 12: 2, 13: 11, 14: 1, 17: 152, 20: 203} // report says so
	once := map[int]int{1: 2, 4: 134, 7: 1, 13: 1, 17: 16, 20: 119}
	for task := 1; task <= 20; task++ {
		if !d.Has("en-10k", task, "train") {
			continue
		}
		if n := repeated(t, d, "en", task); n != once[task] {
			t.Errorf("%d test questions of task %d stand in its 1k training file with their facts, want %d", n, task, once[task])
		}
		if n := repeated(t, d, "en-10k", task); n != twice[task] {
			t.Errorf("%d test questions of task %d stand in its 10k training file with their facts, want %d", n, task, twice[task])
		}
	}
	tk, err := d.Task(babi.Babi{Set: "en-10k", Task: 2})
	if err != nil {
		t.Fatal(err)
	}
	if maximum, _ := tk.MaxLengths(); maximum != 71*tk.Vocabularies().Positions() || tk.Vocabularies().Positions() != 7 {
		t.Errorf("task 2 has sources of %d ids of %d words, want 70 facts and the question, 7 words", maximum, tk.Vocabularies().Positions())
	}
}

// repeated counts the test questions of a set whose facts and words stand in its training file, too.
func repeated(t *testing.T, d *babi.Distribution, set string, task int) (n int) {
	t.Helper()
	seen := map[string]bool{}
	for _, part := range []string{"train", "test"} {
		questions, err := d.Questions(set, task, part)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range questions {
			story := strings.Join(q.Facts, " ") + q.Text
			if part == "train" {
				seen[story] = true
			} else if seen[story] {
				n++
			}
		}
	}
	return n
}

// An archive of any bytes is read or refused in one line that names it; nothing panics, and nothing but memory is written.
func FuzzArchive(f *testing.F) {
	files := map[string]string{"en/qa1_a_train.txt": moves(1, 1), "../../en/qa1_test.txt": moves(2, 1)}
	var raw bytes.Buffer
	w := tar.NewWriter(&raw)
	for name, text := range files {
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o600})
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	var packed, squeezed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, _ = g.Write(raw.Bytes())
	_ = g.Close()
	x, err := xz.NewWriter(&squeezed)
	if err != nil {
		f.Fatal(err)
	}
	_, _ = x.Write(raw.Bytes())
	_ = x.Close()
	for _, data := range [][]byte{raw.Bytes(), packed.Bytes(), squeezed.Bytes(), squeezed.Bytes()[:40], nil} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "a.tar")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := babi.Open(path)
		if err != nil {
			if !strings.Contains(err.Error(), "a.tar") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q does not name the file, or is no line", err)
			}
			return
		}
		for _, part := range []string{"train", "test"} {
			_, _ = d.Questions("en", 1, part)
		}
	})
}
