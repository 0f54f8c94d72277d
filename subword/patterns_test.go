package subword_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// published is a form of published files, and what the Python library tokenizers 0.23.3 gives (testdata/patterns.py).
type published struct {
	Name          string
	Normalizer    json.RawMessage
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	IgnoreMerges  bool            `json:"ignore_merges"`
	Added         []json.RawMessage
	IDs           [][]vocab.ID
	Back          []string
}

func readPublished(t testing.TB) (texts []string, forms []published) {
	t.Helper()
	data, err := os.ReadFile("testdata/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Texts []string
		Forms []published
	}
	if err := json.Unmarshal(data, &all); err != nil || len(all.Forms) != 6 {
		t.Fatalf("%d forms, %v", len(all.Forms), err)
	}
	return all.Texts, all.Forms
}

// file is testdata/tokenizer.json in this form.
func (p published) file(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]any
	if err := json.Unmarshal(data, &parts); err != nil {
		t.Fatal(err)
	}
	parts["normalizer"], parts["pre_tokenizer"], parts["post_processor"] = p.Normalizer, p.PreTokenizer, p.PostProcessor
	for _, token := range p.Added {
		parts["added_tokens"] = append(parts["added_tokens"].([]any), token)
	}
	model := parts["model"].(map[string]any)
	if model["ignore_merges"] = p.IgnoreMerges; p.IgnoreMerges {
		model["merges"] = model["merges"].([]any)[:150]
	}
	if data, err = json.Marshal(parts); err != nil {
		t.Fatal(err)
	}
	return data
}

// Published forms give Python's ids and texts: the patterns of GPT-2, Llama 3, Qwen 3, GPT-4o, gpt-oss and Mistral Nemo, words that are pieces
// without being merged, text in form C, added tokens that are not special, and ids without a token. Written and read again they are the same.
// Caught when planted: an alternative of a pattern left out or in another place; a prefix of two characters or of a line end; groups of four
// digits; line ends not kept with punctuation; upper-case letters that give back one character; a long s; whole words merged; text that is not
// normalized; the shorter of two added tokens.
func TestPublishedFormsEqualPython(t *testing.T) {
	texts, forms := readPublished(t)
	for _, p := range forms {
		tokenizer, err := subword.Read(bytes.NewReader(p.file(t)))
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		var again bytes.Buffer
		if err := tokenizer.(*subword.BPE).Write(&again); err != nil {
			t.Fatal(err)
		}
		back, err := subword.Read(&again)
		if err != nil {
			t.Fatalf("%s: written and read again: %v", p.Name, err)
		}
		for i, text := range texts {
			for _, tokenizer := range []subword.Tokenizer{tokenizer, back} {
				if ids, err := tokenizer.Encode(text); err != nil || !slices.Equal(ids, p.IDs[i]) {
					t.Errorf("%s: Encode(%q) = %v, %v, want %v", p.Name, text, ids, err, p.IDs[i])
				}
				if decoded, err := tokenizer.Decode(p.IDs[i]); err != nil || decoded != p.Back[i] {
					t.Errorf("%s: Decode(%v) = %q, %v, want %q", p.Name, p.IDs[i], decoded, err, p.Back[i])
				}
			}
		}
	}
}

// A model can use published files: text has Python's ids, two more than in the file because those of padding and the end come first, and
// comes back.
// Caught when planted: ids that are not shifted when merges are skipped; an end that stands for a piece; a piece spelled <pad> that is refused.
func TestPublishedFormsForModels(t *testing.T) {
	texts, forms := readPublished(t)
	for _, p := range forms {
		var parts map[string]any
		if err := json.Unmarshal(p.file(t), &parts); err != nil {
			t.Fatal(err)
		}
		parts["added_tokens"] = parts["added_tokens"].([]any)[2:] // so that <pad> and <end>, with ids 0 and 1, are ordinary pieces
		file, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		direct, err := subword.Read(bytes.NewReader(file))
		if err != nil || direct.ModelIDs() == nil {
			t.Fatalf("%s: %v, or the ids are a model's, so nothing is shifted", p.Name, err)
		}
		pieces, err := subword.ReadPieces(file)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if n := pieces.Vocabulary().Size(); n != direct.Size()+2 || !pieces.HasMerges() {
			t.Errorf("%s: %d ids, want %d", p.Name, n, direct.Size()+2)
		}
		for i, text := range texts {
			ids, err := pieces.Encode(text)
			want := slices.Clone(p.IDs[i])
			for at := range want {
				want[at] += 2
			}
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("%s: Encode(%q) = %v, %v, want %v", p.Name, text, ids, err, want)
			}
			tokens, err := pieces.Split(text)
			if spelled, wrong := pieces.Vocabulary().Encode(tokens); err != nil || wrong != nil || !slices.Equal(spelled, want) {
				t.Errorf("%s: Split(%q) = %q, %v, %v", p.Name, text, tokens, err, wrong)
			}
			dropped, err := pieces.EncodeWithDropout(text, 0.2, rand.New(rand.NewPCG(1, uint64(i))))
			if back := pieces.Text(append(dropped, vocab.End, 5)); err != nil || back != p.Back[i] {
				t.Errorf("%s: %q comes back as %q, %v", p.Name, text, back, err)
			}
		}
	}
}

// An id without a token, as GPT-4o's file has, stands for nothing; dropout of merges splits a text in many ways and loses nothing.
func TestPublishedForms(t *testing.T) {
	_, forms := readPublished(t)
	of := func(name string) *subword.BPE {
		at := slices.IndexFunc(forms, func(p published) bool { return p.Name == name })
		tokenizer, err := subword.Read(bytes.NewReader(forms[at].file(t)))
		if err != nil {
			t.Fatal(err)
		}
		return tokenizer.(*subword.BPE)
	}
	gap := of("gpt-4o")
	if text, err := gap.Decode([]vocab.ID{705, 702, 711}); err != nil || text != "" || gap.Size() != 712 || gap.Token(705) != "<unused 705>" {
		t.Errorf("ids without a token are %q, %v; there are %d ids, one is %q", text, err, gap.Size(), gap.Token(705))
	}
	const text = "The neighbour's <think> dog has found 12 pears"
	qwen, rng := of("qwen-3"), rand.New(rand.NewPCG(1, 2))
	plain, _ := qwen.Encode(text)
	differ := 0
	for range 20 {
		ids, err := qwen.EncodeWithDropout(text, 0.3, rng)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := qwen.Decode(ids); err != nil || back != text || !slices.Contains(ids, 701) {
			t.Errorf("with dropout %q comes back as %q, %v", text, back, err)
		}
		if !slices.Equal(ids, plain) {
			differ++
		}
	}
	if differ < 15 {
		t.Errorf("%d of 20 differ", differ)
	}
}

// Long texts without a word's end take linear time: each of these would take minutes in quadratic time.
func TestPatternsAreLinear(t *testing.T) {
	_, forms := readPublished(t)
	for _, p := range forms {
		tokenizer, err := subword.Read(bytes.NewReader(p.file(t)))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{" ", "A", "中A", "\n ", "!", "'", "\u0301", "1", "Aa", "/\n"} {
			if _, err := tokenizer.Encode(strings.Repeat(part, 200_000/len(part))); err != nil {
				t.Error(err)
			}
		}
	}
}

// Any text is split into words that are not empty and that make up the text, by every form.
func FuzzPatterns(f *testing.F) {
	texts, forms := readPublished(f)
	var tokenizers []subword.Tokenizer
	for _, p := range forms {
		tokenizer, err := subword.Read(bytes.NewReader(p.file(f)))
		if err != nil {
			f.Fatal(err)
		}
		tokenizers = append(tokenizers, tokenizer)
	}
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if subword.CheckText(text) != nil {
			return
		}
		for i, tokenizer := range tokenizers {
			ids, err := tokenizer.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := tokenizer.Decode(ids); err != nil || back != text && forms[i].Name != "qwen-3" {
				t.Fatalf("%s: %q comes back as %q, %v", forms[i].Name, text, back, err)
			}
		}
	})
}
