package subword_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/subword"
)

// tokenizerJSON is a small file, with pieces of it replaced.
func tokenizerJSON(t testing.TB, oldNew ...string) string {
	t.Helper()
	trainer := subword.Trainer{Size: 260}
	if err := trainer.Count(strings.NewReader("abc abc\nabc")); err != nil {
		t.Fatal(err)
	}
	b, err := trainer.Train()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(text, oldNew[i]) {
			t.Fatalf("the file has no %s", oldNew[i])
		}
		text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
	}
	return text
}

// mergesNull is the small file with null in place of the list of merges.
func mergesNull(t testing.TB) string {
	text := tokenizerJSON(t)
	before, list, found := strings.Cut(text, `"merges": [`)
	_, after, closed := strings.Cut(list, "\n    ]")
	if !found || !closed {
		t.Fatal("the file has no merges")
	}
	return before + `"merges": null` + after
}

// qwenPattern is that of Qwen 2 and 3.
const qwenPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// sequenceOf is the pre-tokenizer that splits by a pattern and then turns bytes into characters.
func sequenceOf(pattern, behavior string, invert, regex bool) string {
	return fmt.Sprintf(`"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": %q}, "behavior": %q, "invert": %v}, `+
		`{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": %v}]}`, pattern, behavior, invert, regex)
}

const (
	preTokenizer = "\"pre_tokenizer\": {\n    \"type\": \"ByteLevel\",\n    \"add_prefix_space\": false,\n    \"trim_offsets\": true,\n    \"use_regex\": true\n  }"
	decoder      = "\"decoder\": {\n    \"type\": \"ByteLevel\""
	secondToken  = "\"content\": \"<end>\",\n      \"single_word\": false,\n      \"lstrip\": false,\n      \"rstrip\": false,\n      \"normalized\": false,\n      \"special\": true"
)

// What would be tokenized differently than meant is refused by name. Caught when planted: each check left out.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		says string
		text string
	}{
		{"normalizer Lowercase", tokenizerJSON(t, `"normalizer": null`, `"normalizer": {"type": "Lowercase"}`)},
		{"truncation is set, which", tokenizerJSON(t, `"truncation": null`, `"truncation": {"max_length": 5}`)},
		{"padding is set, which", tokenizerJSON(t, `"padding": null`, `"padding": {"pad_id": 5}`)},
		{"pre_tokenizer Whitespace", tokenizerJSON(t, preTokenizer, `"pre_tokenizer": {"type": "Whitespace"}`)},
		{"pre_tokenizer Sequence", tokenizerJSON(t, preTokenizer, `"pre_tokenizer": {"type": "Sequence", "pretokenizers": []}`)},
		{"pre_tokenizer is missing", tokenizerJSON(t, preTokenizer, `"pre_tokenizer": null`)},
		{"add_prefix_space", tokenizerJSON(t, `"add_prefix_space": false`, `"add_prefix_space": true`)},
		{"use_regex", tokenizerJSON(t, `"use_regex": true`, `"use_regex": false`)},
		{"unknown key", tokenizerJSON(t, `"use_regex": true`, `"regex": true`)},
		{"post_processor BertProcessing", tokenizerJSON(t, `"post_processor": null`, `"post_processor": {"type": "BertProcessing"}`)},
		{"decoder Metaspace", tokenizerJSON(t, decoder, `"decoder": {"type": "Metaspace"`)},
		{"model Unigram", tokenizerJSON(t, `"type": "BPE"`, `"type": "Unigram"`)},
		{"model WordPiece", tokenizerJSON(t, `"type": "BPE"`, `"type": "WordPiece"`)},
		{"model is missing", `{"pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}}`},
		{"dropout", tokenizerJSON(t, `"dropout": null`, `"dropout": 0.1`)},
		{"byte_fallback", tokenizerJSON(t, `"byte_fallback": false`, `"byte_fallback": true`)},
		{"end_of_word_suffix", tokenizerJSON(t, `"end_of_word_suffix": null`, `"end_of_word_suffix": "</w>"`)},
		{"continuing_subword_prefix", tokenizerJSON(t, `"continuing_subword_prefix": null`, `"continuing_subword_prefix": "##"`)},
		{`"<end>" has single_word, lstrip`, tokenizerJSON(t, secondToken, strings.Replace(strings.Replace(secondToken, `"special": true`, `"special": false`, 1), `"lstrip": false`, `"lstrip": true`, 1))},
		{"has the pattern \"[a-z]+|.\", which is not", tokenizerJSON(t, preTokenizer, sequenceOf(`[a-z]+|.`, "Isolated", false, false))},
		{"behavior Removed and invert false", tokenizerJSON(t, preTokenizer, sequenceOf(qwenPattern, "Removed", false, false))},
		{"use_regex after a Split", tokenizerJSON(t, preTokenizer, sequenceOf(qwenPattern, "Isolated", false, true))},
		{`<end>" is looked for in normalized text`, tokenizerJSON(t, `"normalizer": null`, `"normalizer": {"type": "NFC"}`, secondToken, strings.Replace(strings.Replace(secondToken, `"special": true`, `"special": false`, 1), `"normalized": false`, `"normalized": true`, 1))},
		{`"<end>" has id 2`, tokenizerJSON(t, `"id": 1`, `"id": 2`)},
		{`"abc" can also result from text`, tokenizerJSON(t, `"<end>"`, `"abc"`, `"id": 1`, `"id": 259`)},
		{`neither byte 0x21, '!', nor unk_token "?!"`, tokenizerJSON(t, `"!": 2,`, `"!!!!": 2,`, `"unk_token": null`, `"unk_token": "?!"`)},
		{"has id 7777", tokenizerJSON(t, `"!": 2,`, `"!": 7777,`)},
		{"has id -1", tokenizerJSON(t, `"!": 2,`, `"!": -1,`)},
		{"each once", tokenizerJSON(t, `"!": 2,`, `"!": 3,`)},
		{"given twice", tokenizerJSON(t, `"!": 2,`, `"!": 2, "!": 2,`)},
		{"merge 2 of", tokenizerJSON(t, "\"ab\",\n        \"c\"", `"ab", "???"`)},
		{"merge 2 makes", tokenizerJSON(t, "\"ab\",\n        \"c\"", `"ab", "d"`)},
		{"given twice", tokenizerJSON(t, "\"ab\",\n        \"c\"", `"a", "b"`)},
		{"merges is missing or null", mergesNull(t)},
		{"vocab is missing or null", `{"pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": {"vocab": null, "merges": []}}`},
		{`\ud800 is half of a surrogate pair`, tokenizerJSON(t, `"!": 2,`, `"!": 2, "\ud800": 300,`)},
		{"two pieces", tokenizerJSON(t, "\"ab\",\n        \"c\"", `"ab"`)},
		{"line 1", "{"},
		{"neither a tokenizer.json nor", ""},
		{"neither a tokenizer.json nor", "'<pad>_'\n'<EOS>_'\n"},
		{"neither a tokenizer.json nor", "'the_'\n'a_'\n'b'\n"},
		{"line 3: a subword of more", "<pad>\n<EOS>\n" + strings.Repeat("a", 2000)},
		{"not valid UTF-8", "'<pad>_'\n'<EOS>_'\n'\xff'\n"},
		{"this is not a tokenizer", strings.Repeat(" ", 64<<20+1)},
	} {
		tokenizer, err := subword.Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T, %v: want an error that says %q", tokenizer, err, c.says)
		}
	}
}

// Files of others: merges in one string, no type of the model, empty suffixes, special tokens at other ids or outside the vocabulary.
func TestReadOthers(t *testing.T) {
	text := tokenizerJSON(t, `"type": "BPE",`, ``, `"unk_token": null`, `"unk_token": ""`, `"end_of_word_suffix": null`, `"end_of_word_suffix": ""`,
		"[\n        \"ab\",\n        \"c\"\n      ]", `"ab c"`, `"post_processor": null`, `"post_processor": {"type": "ByteLevel"}`,
		`"dropout": null`, `"dropout": 0.0`, `"<pad>": 0`, `"unused": 0`, `"content": "<pad>"`, `"content": "<|endoftext|>"`, `"id": 0`, `"id": 260`)
	tokenizer, err := subword.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ids, err := tokenizer.Encode("abc<|endoftext|>")
	if err != nil || tokenizer.Size() != 261 || ids[0] != 259 || tokenizer.Token(260) != "<|endoftext|>" || len(ids) != 1+len("<|endoftext|>") {
		t.Errorf("%d tokens, the last one %q; ids %v, %v", tokenizer.Size(), tokenizer.Token(260), ids, err)
	}
	if err := tokenizer.ModelIDs(); err == nil || !strings.Contains(err.Error(), `id 0 is "unused"`) {
		t.Errorf("ids without padding are a model's: %v", err)
	}
	padded, err := subword.Read(strings.NewReader(tokenizerJSON(t, `"!": 2,`, `"!!!!": 2,`, `"unk_token": null`, `"unk_token": "<end>"`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := padded.ModelIDs(); err == nil || !strings.Contains(err.Error(), `id 1 is "<end>", which text can give`) {
		t.Errorf("an end that text gives is a model's: %v", err)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vocabulary")
	if _, err := subword.Open(path); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := subword.Open(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("an empty file: %v", err)
	}
}

// Subwords: escapes and quotes as the authors read them.
func TestReadT2T(t *testing.T) {
	text := "<pad>\n'<EOS>'\n\"a_\"\n'''\n'''_'\nx\n'x'\n\n_\n\\\n;\nu\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n'\n"
	tokenizer, err := subword.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range []string{"<pad>", "<EOS>", "a_", "'", "''_", "x", "x", ""} {
		if got := tokenizer.Token(int32(id)); got != want {
			t.Errorf("Token(%d) = %q, want %q", id, got, want)
		}
	}
	if id := int32(tokenizer.Size() - 1); tokenizer.Token(id) != "" { // the authors take one quote for two
		t.Errorf("a quote alone is %q", tokenizer.Token(id))
	}
	if text, err := tokenizer.Decode([]int32{9, 21, 21, 21, 21, 21, 21, 21, 10, 9, 18, 17, 10, 8}); err != nil || text != "〓A" {
		t.Errorf(`\9999999;\65; is %q, %v`, text, err)
	}
	if ids, err := tokenizer.Encode("x"); err != nil || len(ids) != 2 || ids[0] != 6 {
		t.Errorf("of equal subwords the last one counts: %v, %v", ids, err)
	}
	if ids, err := tokenizer.Encode("bx"); err != nil || tokenizer.Token(ids[0]) != `\` {
		t.Errorf("a character that is not in the alphabet: %v, %v", ids, err)
	}
	if ids, err := tokenizer.Encode("x<"); err == nil || !strings.Contains(err.Error(), `no subword for '<'`) {
		t.Errorf("a character without a subword: %v, %v", ids, err)
	}
}

// Whatever is read is refused in one line, or encodes any text, or says why not.
func FuzzRead(f *testing.F) {
	f.Add([]byte(tokenizerJSON(f)))
	f.Add([]byte(tokenizerJSON(f, `"id": 1`, `"id": 260`)))
	f.Add([]byte(tokenizerJSON(f, `"a": `, `"unk": `, `"unk_token": null`, `"unk_token": "unk"`, `"merges": [`, `"unmerged": [`)))
	f.Add([]byte("'<pad>_'\n'<EOS>_'\n'a_'\n'\\'\n';'\n'9'\n'7'\n'_'\n"))
	f.Add([]byte(`{"model": {"type": "Unigram", "vocab": [["a", -1]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokenizer, err := subword.Read(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		const text = "aab <pad> 'xé"
		ids, err := tokenizer.Encode(text)
		if err != nil {
			return
		}
		if _, err := tokenizer.Decode(ids); err != nil {
			t.Fatalf("its own ids are refused: %v", err)
		}
		if b, ok := tokenizer.(*subword.BPE); ok {
			checkRoundTrip0(t, b, text, ids)
		}
	})
}

// checkRoundTrip0 is checkRoundTrip where ids 0 and 1 may be a text's.
func checkRoundTrip0(t *testing.T, b *subword.BPE, text string, ids []int32) {
	t.Helper()
	for _, r := range text {
		one, _ := b.Encode(string(r))
		if back, err := b.Decode(one); err != nil || back != string(r) {
			return // a vocabulary that lacks bytes loses them
		}
	}
	if back, err := b.Decode(ids); err != nil || back != text {
		t.Fatalf("%q comes back as %q, %v", text, back, err)
	}
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := subword.Read(&file); err != nil {
		t.Fatalf("what was read and written is not read again: %v", err)
	}
}
