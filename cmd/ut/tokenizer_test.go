package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tokenizer trains a small tokenizer and returns its path.
func tokenizer(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "tokenizer.json")
	got := succeeds(t, "tokenizer", "train", write(t, "a", "low lower lowest"), write(t, "b.gz", zipped(t, "new newer newest\n\n")), "--size", "264", "--out", out)
	if want := out + ": 264 tokens from 3 lines\n"; got != want {
		t.Fatalf("train says %q, want %q", got, want)
	}
	return out
}

// Decoding encoded text gives the text, line by line. Caught when planted: files that run into each other; a blank
// line left out; ids for pieces.
func TestTokenizer(t *testing.T) {
	path := tokenizer(t)
	const text = "the newest <pad> low\n\n  \tö 日本\n"
	ids := utReading(t, text, "tokenizer", "encode", path)
	if ids.code != 0 || ids.stderr != "" || strings.Count(ids.stdout, "\n") != 3 {
		t.Fatalf("encode: %+v", ids)
	}
	if back := utReading(t, ids.stdout, "tokenizer", "decode", path); back.code != 0 || back.stdout != text {
		t.Errorf("decode: %+v", back)
	}
	// The pieces are those that Python's tokenizers gives, trained on the same lines.
	if pieces := utReading(t, "the newest", "tokenizer", "encode", path, "--tokens"); pieces.stdout != "t h e Ġne we st\n" {
		t.Errorf("pieces: %+v", pieces)
	}
	if got := succeeds(t, "tokenizer", "train", write(t, "a", "ab"), "--out", filepath.Join(t.TempDir(), "x")); !strings.Contains(got, "259 tokens from 1 line, as no further") {
		t.Errorf("a text that is too small: %q", got)
	}
	words := write(t, "words", "'<pad>_'\n'<EOS>_'\n'low_'\n', _'\n")
	if got := utReading(t, "low, low\n", "tokenizer", "encode", words, "--tokens"); got.stdout != "low_ ,␣_ low_\n" {
		t.Errorf("tensor2tensor's subwords: %+v", got)
	}
}

func TestTokenizerErrors(t *testing.T) {
	path, text := tokenizer(t), write(t, "text", "a b\nc \xff d\n")
	train := func(args ...string) []string { return append([]string{"tokenizer", "train"}, args...) }
	for _, c := range []struct {
		name, input string
		args        []string
		code        int
		says        []string
	}{
		{"nothing to do", "", []string{"tokenizer"}, 2, []string{"train, encode, decode"}},
		{"unknown", "", []string{"tokenizer", "trian"}, 2, []string{`"trian"`, "train"}},
		{"no file", "", train(), 2, []string{"FILE is missing"}},
		{"size", "", train(path, "--size", "9"), 2, []string{"--size is 9", "258"}},
		{"min-count", "", train(path, "--min-count", "-1"), 2, []string{"--min-count is -1"}},
		{"out is a source", "", train(path, "--out", path), 2, []string{"--out " + path}},
		{"cut short", "", train(write(t, "cut.gz", zipped(t, "new newer newest")[:25])), 1, []string{"cut.gz: ", "unexpected EOF"}},
		{"nowhere", "", train("nowhere"), 1, []string{"nowhere"}},
		{"folder", "", train(filepath.Dir(path)), 1, []string{filepath.Dir(path), "folder"}},
		{"no folder to write to", "", train(path, "--out", path+"/x/y"), 1, []string{path + "/x"}},
		{"out is a folder", "", train(path, "--out", filepath.Dir(path)), 1, []string{"--out", "folder"}},
		{"no UTF-8", "", train(text), 1, []string{text + ": line 2", "byte 3"}},
		{"no text", "", train(write(t, "empty", "\n\n")), 1, []string{"empty", "no text"}},
		{"no tokenizer", "", []string{"tokenizer", "encode"}, 2, []string{"TOKENIZER is missing"}},
		{"tokenizer nowhere", "", []string{"tokenizer", "encode", "nowhere"}, 1, []string{"nowhere"}},
		{"not a tokenizer", "", []string{"tokenizer", "decode", text}, 1, []string{text, "UTF-8"}},
		{"another model", "", []string{"tokenizer", "encode", write(t, "u.json", `{"pre_tokenizer": {"type": "Metaspace"}}`)}, 1, []string{"u.json", "Metaspace"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := utReading(t, c.input, c.args...)
			checkFailure(t, r, c.code, c.says...)
		})
	}
}

// Lines that cannot be changed are reported, and leave an empty line; the others keep their places.
func TestTokenizerSkipsBadLines(t *testing.T) {
	path := tokenizer(t)
	long := strings.Repeat("x", maxLineSize+10)
	r := utReading(t, "new\n\xff\n"+long+"\nnew", "tokenizer", "encode", path)
	lines := strings.Split(r.stdout, "\n")
	if r.code != 1 || len(lines) != 5 || lines[0] == "" || lines[1] != "" || lines[2] != "" || lines[3] != lines[0] {
		t.Errorf("encode: exit code %d, %q", r.code, r.stdout)
	}
	for _, want := range []string{"line 2: ", "byte 1", "line 3: longer than 1048576 bytes", "2 of 4 lines"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q is missing: %s", want, r.stderr)
		}
	}
	r = utReading(t, lines[0]+"\n5 x\n5 264\n"+lines[0], "tokenizer", "decode", path)
	if r.code != 1 || r.stdout != "new\n\n\nnew\n" || !strings.Contains(r.stderr, `line 2: "x" is not an id`) || !strings.Contains(r.stderr, "line 3: ") || !strings.Contains(r.stderr, "position 2") {
		t.Errorf("decode: %+v", r)
	}
}

// After a failure the previous tokenizer remains, and no other file.
func TestTokenizerIsWrittenWhole(t *testing.T) {
	path := tokenizer(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkFailure(t, ut(t, "tokenizer", "train", write(t, "text", "ab\n\xff"), "--out", path), 1, "line 2")
	after, err := os.ReadFile(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if err != nil || string(after) != string(before) || len(entries) != 1 {
		t.Errorf("%v; beside it %v", err, entries)
	}
}
