package subword_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// Pieces that are found in a text have the ids of the tokenizer that they are kept as: the file that is written is read to the same
// ids, text comes back to the last byte, and the vocabulary spells what Split gives.
// Caught when planted: a vocabulary that begins at 0, Text that goes on behind the end.
func TestPieces(t *testing.T) {
	text := []string{"the cat, the dog\nthe end", "naïve ☃ cat"}
	p, err := subword.Choice{TokenizerSize: 270}.Pieces(slices.Values(text))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := subword.Read(strings.NewReader(string(p.File())))
	if err != nil {
		t.Fatal(err)
	}
	if direct.Size() != 270 || p.Vocabulary().Size() != 270 {
		t.Fatalf("%d and %d ids, want 270", direct.Size(), p.Vocabulary().Size())
	}
	sum := sha256.Sum256(p.File())
	if p.Digest() != hex.EncodeToString(sum[:]) {
		t.Error("the digest is not the file's SHA-256")
	}
	for _, line := range []string{"the cat", " two  blanks ", "🙂 ☃", "<pad>", ""} {
		tokens, err := p.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := p.Vocabulary().Encode(tokens)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := direct.Encode(line)
		if !slices.Equal(ids, want) || slices.Contains(ids, vocab.End) {
			t.Errorf("%q: %v, want %v", line, ids, want)
		}
		if got := p.Text(append(slices.Clone(ids), vocab.End, 5, 6)); got != line {
			t.Errorf("%q comes back as %q", line, got)
		}
	}
	if tokens, _ := p.Split("the"); !slices.Equal(tokens, []string{"the"}) {
		t.Errorf("the most frequent words are cut: %q", tokens)
	}
}

// What is no tokenizer, or cannot be a model's, is named in one line.
func TestChoiceRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		choice subword.Choice
		want   string
	}{
		"missing":  {subword.Choice{TokenizerFile: filepath.Join(dir, "none.json")}, "does not exist: leave it out, or train a tokenizer"},
		"folder":   {subword.Choice{TokenizerFile: dir}, "is a folder"},
		"empty":    {subword.Choice{TokenizerFile: file("empty", "")}, "tokenizer_file " + filepath.Join(dir, "empty")},
		"no ids":   {subword.Choice{TokenizerFile: file("t2t", "'<pad>_'\n'<EOS>_'\n'a_'\n'a_'\n")}, "is already token"},
		"no text":  {subword.Choice{}, "there is no text"},
		"too few":  {subword.Choice{TokenizerSize: 9}, "tokenizer_size is 9"},
		"not UTF8": {subword.Choice{TokenizerFile: file("latin1", "{\"a\": \"\xff\"}")}, "not valid UTF-8"},
	} {
		_, err := c.choice.Pieces(func(func(string) bool) {})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for want, c := range map[string]struct {
		choice subword.Choice
		kind   vocab.Tokenizer
	}{
		`tokenizer_file is "x", but tokenizer is characters`: {subword.Choice{TokenizerFile: "x"}, vocab.Characters},
		"tokenizer_size is 300, but tokenizer is whitespace": {subword.Choice{TokenizerSize: 300}, vocab.Whitespace},
		"tokenizer_size is 1, but tokenizer is whitespace":   {subword.Choice{TokenizerSize: 1}, vocab.Whitespace},
		`tokenizer_file is "x" and tokenizer_size is 1: `:    {subword.Choice{TokenizerFile: "x", TokenizerSize: 1}, vocab.Subwords},
		`tokenizer_file is "x" and tokenizer_size is 300`:    {subword.Choice{TokenizerFile: "x", TokenizerSize: 300}, vocab.Subwords},
		"tokenizer_size is 100: it must be at least 258":     {subword.Choice{TokenizerSize: 100}, vocab.Subwords},
	} {
		if err := c.choice.Check(c.kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (subword.Choice{TokenizerFile: "x"}).Check(vocab.Subwords); err != nil {
		t.Error(err)
	}
}

// Pieces of a file are those of its content, which is kept; the text is not looked at. A file that is too large is refused, not cut off.
// Caught when planted: a file that is read up to the limit.
func TestChoiceReadsFiles(t *testing.T) {
	path, content := filepath.Join(t.TempDir(), "vocabulary"), "'<pad>_'\n'<EOS>_'\n'a_'\n'b_'\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := subword.Choice{TokenizerFile: path}
	p, err := c.Pieces(slices.Values([]string{"\xff"}))
	if err != nil || string(p.File()) != content || p.Vocabulary().Size() != 4 || p.Text([]vocab.ID{3, 2}) != "b a" {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.Truncate(path, 64<<20+2); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pieces(nil); err == nil || !strings.Contains(err.Error(), "this is not a tokenizer") {
		t.Errorf("a file of more than 64 MiB: %v", err)
	}
	for part, want := range map[string]string{"a\xff": "not valid UTF-8", "ok": ""} {
		_, err := subword.Choice{TokenizerSize: 260}.Pieces(slices.Values([]string{part}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", part, err, want)
		}
	}
}

// Where a piece begins a text of its own, texts before and after it join to the whole, for any ids: also those of incomplete characters.
// Caught when planted: bytes within a character that begin a text; ids of shifted files without the shift.
func TestTextsJoin(t *testing.T) {
	trained, err := subword.Choice{TokenizerSize: 300}.Pieces(slices.Values([]string{"the cat and the hat ☃ 🙂 überall", "a cat, a hat"}))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]any
	if err := json.Unmarshal(file, &parts); err != nil {
		t.Fatal(err)
	}
	parts["added_tokens"] = parts["added_tokens"].([]any)[2:] // so that ids 0 and 1 are ordinary pieces
	if file, err = json.Marshal(parts); err != nil {
		t.Fatal(err)
	}
	shifted, err := subword.ReadPieces(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 1))
	for name, p := range map[string]*subword.Pieces{"trained": trained, "shifted": shifted} {
		size, begins := p.Vocabulary().Size(), 0
		for range 2000 {
			ids := make([]vocab.ID, 6)
			for i := range ids {
				ids[i] = vocab.ID(2 + rng.IntN(size-2))
			}
			if !p.Begins(ids[3]) {
				continue
			}
			begins++
			if whole, parts := p.Text(ids), p.Text(ids[:3])+p.Text(ids[3:]); whole != parts {
				t.Fatalf("%s: %v is %q, in parts %q", name, ids, whole, parts)
			}
		}
		if begins < 500 || begins > 1900 {
			t.Errorf("%s: %d of 2000 pieces begin a text: this shows little", name, begins)
		}
		for _, id := range []vocab.ID{-1, vocab.Padding, vocab.End, vocab.ID(size)} {
			if p.Begins(id) {
				t.Errorf("%s: id %d begins a text", name, id)
			}
		}
	}
}
