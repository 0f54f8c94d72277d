package subword_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// A golden is what the Python library tokenizers 0.23.3 (testdata/golden.py) or the authors' tensor2tensor 1.15.7 gives.
type golden struct {
	Classes          string
	Encoded, Decoded []struct {
		Text string
		IDs  []vocab.ID
	}
}

func readGolden(t testing.TB, path string) golden {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Encoded) == 0 || len(g.Decoded) == 0 {
		t.Fatalf("%s is empty", path)
	}
	return g
}

func open(t testing.TB, path string) subword.Tokenizer {
	t.Helper()
	tokenizer, err := subword.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func trained(t testing.TB, size int) *subword.BPE {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	trainer := subword.Trainer{Size: size}
	if err := trainer.Count(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	b, err := trainer.Train()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Training gives Python's file to the last byte: its merges, its vocabulary, its ids, its form. Caught when planted: equal counts in
// another order, by either id; counts that are out of date; pairs that go and are still counted; an alphabet in the order of bytes;
// "<" as "\u003c".
func TestTrainEqualsPython(t *testing.T) {
	want, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := trained(t, 700).Write(&got); err != nil {
		t.Fatal(err)
	}
	wanted := bytes.Split(want, []byte("\n"))
	for i, line := range bytes.Split(got.Bytes(), []byte("\n")) {
		if i >= len(wanted) || !bytes.Equal(line, wanted[i]) {
			t.Fatalf("line %d of the file is %s, Python has another", i+1, line)
		}
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("the file ends too early")
	}
}

// Ids and texts are those of the other libraries. Caught when planted: a contraction after a blank, or one less; the last of several
// blanks kept with the others; of equal ranks the right one first; a merge where another one was before; neighbours that are not
// looked at again; every edge of what is UTF-8; the shortest subword first; a blank at the start of a text left out; "_" not escaped.
func TestGolden(t *testing.T) {
	for data, path := range map[string]string{"testdata/golden.json": "testdata/tokenizer.json", "testdata/t2t.json": "testdata/t2t.subwords"} {
		tokenizer, g := open(t, path), readGolden(t, data)
		for _, c := range g.Encoded {
			if got, err := tokenizer.Encode(c.Text); err != nil || !slices.Equal(got, c.IDs) {
				t.Errorf("%s: Encode(%q) = %v, %v, want %v", path, c.Text, got, err, c.IDs)
			}
		}
		for _, c := range g.Decoded {
			if got, err := tokenizer.Decode(c.IDs); err != nil || got != c.Text {
				t.Errorf("%s: Decode(%v) = %q, %v, want %q", path, c.IDs, got, err, c.Text)
			}
		}
	}
}

// Bytes that a vocabulary lacks become what Python's do: nothing, or the unknown token, one for each or one for several. Caught when planted: a byte
// that is left out though there is an unknown token; tokens fused where they are not, or over a byte between; merges that stop there.
func TestLackingBytesEqualPython(t *testing.T) {
	file, err := os.ReadFile("testdata/lacking.tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/lacking.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Unk, Text, Back string
		Fuse            bool
		IDs             []vocab.ID
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 100 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		text := string(file)
		if c.Unk != "" {
			text = strings.Replace(text, `"unk_token": null`, fmt.Sprintf(`"unk_token": %q`, c.Unk), 1)
		}
		text = strings.Replace(text, `"fuse_unk": false`, fmt.Sprintf(`"fuse_unk": %v`, c.Fuse), 1)
		tokenizer, err := subword.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		ids, err := tokenizer.Encode(c.Text)
		if err != nil || !slices.Equal(ids, c.IDs) {
			t.Errorf("unknown %q, fused %v: Encode(%q) = %v, %v, want %v", c.Unk, c.Fuse, c.Text, ids, err, c.IDs)
		}
		if back, err := tokenizer.Decode(c.IDs); err != nil || back != c.Back {
			t.Errorf("unknown %q: Decode(%v) = %q, %v, want %q", c.Unk, c.IDs, back, err, c.Back)
		}
		var again bytes.Buffer
		if err := tokenizer.(*subword.BPE).Write(&again); err != nil || again.String() != text {
			t.Errorf("unknown %q, fused %v: read and written it is another file (%v)", c.Unk, c.Fuse, err)
		}
	}
}

// What is trained and what is read from the file that it writes are the same.
func TestWriteAndRead(t *testing.T) {
	b := trained(t, 300)
	var file, again bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := subword.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := back.(*subword.BPE).Write(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Errorf("read and written again it is another file (%v)", err)
	}
	for id := range vocab.ID(300) {
		if b.Token(id) != back.Token(id) {
			t.Errorf("id %d is %q, read back %q", id, b.Token(id), back.Token(id))
		}
	}
}
