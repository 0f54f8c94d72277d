package subword

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

// Text is cut at the first added token, and at the longest of those that begin there.
// Caught when planted: the first token of the list in place of the first in the text; a token beyond the end of one that was found.
func TestCuts(t *testing.T) {
	all := func(f form, text string) (list [][2]string) {
		for plain, token := range f.cuts(text) {
			list = append(list, [2]string{plain, token})
		}
		return list
	}
	f := form{added: []string{"<b>", "<a>", "<a>x", "a>", "<"}}
	for text, want := range map[string][2]string{
		"": {"", ""}, "plain": {"plain", ""}, "<a>": {"", "<a>"}, "<a>xy": {"", "<a>x"}, "1<a> <b>": {"1", "<a>"}, "1<b> <a>": {"1", "<b>"},
		"1 a><b>": {"1 ", "a>"}, "1<": {"1", "<"}, "ö<a": {"ö", "<"}, "1<<a>": {"1", "<"},
	} {
		if got := all(f, text); got[0] != want {
			t.Errorf("%q is cut into %q, first want %q", text, got, want)
		}
	}
	if got := all(gpt2(), "<a>"); !slices.Equal(got, [][2]string{{"<a>", ""}}) {
		t.Errorf("without added tokens: %q", got)
	}
	want := [][2]string{{"1", "<b>"}, {"", "<a>x"}, {"", "a>"}, {" ", "<a>"}, {"", "<a>x"}, {"2", ""}}
	if got := all(f, "1<b><a>xa> <a><a>x2"); !slices.Equal(got, want) {
		t.Errorf("the cuts are %q, want %q", got, want)
	}
}

// Post-processors that add special tokens are accepted, others are refused, also in sequences.
func TestPostProcessors(t *testing.T) {
	for part, want := range map[string]string{
		``: "", `null`: "", `{"type": "ByteLevel", "trim_offsets": false}`: "", `{"type": "TemplateProcessing", "single": []}`: "",
		`{"type": "Sequence", "processors": []}`:                                                                    "",
		`{"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing"}]}`:               "",
		`{"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "Sequence", "processors": [null]}]}`:   "",
		`{"type": "ByteLevel", "other": 1}`:                                                                         "post_processor: ",
		`{"type": "Sequence", "processors": 7}`:                                                                     "post_processor: ",
		`{"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "BertProcessing"}]}`:                   "post_processor BertProcessing is not supported",
		`{"type": "Sequence", "processors": [{"type": "Sequence", "processors": [{"type": "RobertaProcessing"}]}]}`: "post_processor RobertaProcessing is not supported",
		`{"single": []}`: "post_processor is set: this is not supported", `5`: "post_processor is set",
	} {
		if err := checkPostProcessor(json.RawMessage(part)); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", part, err, want)
		}
	}
}

// Pre-tokenizers are those whose words are known. Caught when planted: each part of a condition left out.
func TestPreTokenizers(t *testing.T) {
	split := func(pattern, behavior, invert string) string {
		return `{"type": "Split", "pattern": ` + pattern + `, "behavior": "` + behavior + `", "invert": ` + invert + `}`
	}
	sequence := func(parts ...string) string {
		return `{"type": "Sequence", "pretokenizers": [` + strings.Join(parts, ", ") + `]}`
	}
	gpt2, err := json.Marshal(map[string]string{"Regex": gpt2Pattern})
	if err != nil {
		t.Fatal(err)
	}
	const bytes, words = `{"type": "ByteLevel", "use_regex": false}`, `{"type": "ByteLevel"}`
	isolated := split(string(gpt2), "Isolated", "false")
	for part, want := range map[string]string{
		words: "", sequence(isolated, bytes): "", sequence(split(string(gpt2), "Removed", "true"), bytes): "", sequence(split(string(gpt2), "Isolated", "true"), bytes): "",
		``: "pre_tokenizer is missing", bytes: "pre_tokenizer ByteLevel without use_regex", `{"type": "Split"}`: "pre_tokenizer Split is not supported",
		sequence(isolated): "pre_tokenizer Sequence", sequence(isolated, bytes, bytes): "pre_tokenizer Sequence", sequence(bytes, bytes): "pre_tokenizer Sequence",
		sequence(isolated, isolated): "pre_tokenizer Sequence", sequence(isolated, words): "pre_tokenizer ByteLevel with use_regex after a Split",
		sequence(split(string(gpt2), "Removed", "false"), bytes):        "pre_tokenizer Split with behavior Removed and invert false",
		sequence(split(string(gpt2), "MergedWithNext", "true"), bytes):  "pre_tokenizer Split with behavior MergedWithNext and invert true",
		sequence(split(`{"String": "ab"}`, "Isolated", "false"), bytes): `pre_tokenizer Split has the pattern "ab"`,
		sequence(split(`{"Regex": "a+"}`, "Isolated", "false"), bytes):  `pre_tokenizer Split has the pattern "a+"`,
		sequence(split(`5`, "Isolated", "false"), bytes):                "pre_tokenizer Split: ",
		`{"type": "Sequence", "pretokenizers": 5}`:                      "pre_tokenizer: ", `{"type": "ByteLevel", "other": 5}`: "pre_tokenizer: ",
		`{"type": "ByteLevel", "add_prefix_space": true}`: "pre_tokenizer ByteLevel with add_prefix_space",
	} {
		found, err := readPreTokenizer(json.RawMessage(part))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && found("a b") != 1 {
			t.Errorf("%s: %v, want %q", part, err, want)
		}
	}
}

// Ids of a file are below twice the number of tokens, each once; those that are left out become special tokens.
func TestIDsOfAFile(t *testing.T) {
	for _, c := range []struct {
		v     vocabulary
		added []addedToken
		want  string
		size  int
	}{
		{vocabulary{"a": 0, "b": 1, "c": 5}, nil, "", 6}, {vocabulary{"a": 0, "b": 1, "c": 6}, nil, `"c" has id 6: the ids of 3 tokens must be below 6`, 0},
		{vocabulary{"a": -1}, nil, `"a" has id -1`, 0}, {vocabulary{"a": 1}, nil, "", 2}, {vocabulary{"a": 1, "b": 1}, nil, "as another token", 0},
		{vocabulary{"a": 0}, []addedToken{{ID: 0, Content: "a"}}, "", 1}, {vocabulary{"a": 0}, []addedToken{{ID: 3, Content: "b", Special: true}}, "", 4},
		{vocabulary{"a": 0}, []addedToken{{ID: 1, Content: "a"}}, `added token "a" has id 1, and 0 in the vocabulary`, 0}, {vocabulary{"a": 0}, []addedToken{{ID: 1}}, "added token 1 is empty", 0},
	} {
		pieces, special, err := (&model{Vocabulary: c.v}).pieces(c.added)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || len(pieces) != c.size {
			t.Errorf("%v, %v: %d pieces, %v", c.v, c.added, len(pieces), err)
			continue
		}
		for id, piece := range pieces {
			own, ok := c.v[piece]
			isAdded := slices.ContainsFunc(c.added, func(a addedToken) bool { return a.Content == piece && a.ID == vocab.ID(id) })
			if !(ok && own == vocab.ID(id)) && !isAdded && (!special[vocab.ID(id)] || !strings.HasPrefix(piece, "<unused ")) {
				t.Errorf("%v: id %d is %q, special %v", c.v, id, piece, special[vocab.ID(id)])
			}
			if special[vocab.ID(id)] != (strings.HasPrefix(piece, "<unused ") || isAdded && c.added[0].Special) {
				t.Errorf("%v: id %d, %q, is special: %v", c.v, id, piece, special[vocab.ID(id)])
			}
		}
	}
	if text, err := json.Marshal(vocabulary{"b": 2, "<": 0, "c": 11, "a": 1}); err != nil || string(text) != `{"\u003c":0,"a":1,"b":2,"c":11}` {
		t.Errorf("in order of ids: %s, %v", text, err)
	}
	for text, want := range map[string]string{`"a b"`: "a b", `["a","b"]`: "a b", `"ab"`: "", `["a"]`: "", `["a","b","c"]`: "", `"a b c"`: "", `5`: ""} {
		var m mergedPieces
		if err := json.Unmarshal([]byte(text), &m); (err == nil) != (want != "") || err == nil && m[0]+" "+m[1] != want {
			t.Errorf("a merge %s: %q, %v", text, m, err)
		}
	}
}

// Bytes that have no token: dropped, or the unknown token, once for several in a row if they are fused. Whole words that are pieces are not
// merged if the file says so, except special and added tokens.
func TestBytesWithoutTokens(t *testing.T) {
	pieces := []string{"<pad>", "<end>", "<unk>", "a", "b", "ab", "abb", "ba"}
	special := map[vocab.ID]bool{0: true, 1: true, 2: true}
	pairs := []pair{{3, 4}}
	for _, c := range []struct {
		unknown unknown
		whole   bool
		text    string
		want    []vocab.ID
	}{
		{unknown{id: none}, false, "xabyyb", []vocab.ID{5, 4}}, {unknown{id: 2}, false, "xxabyyb", []vocab.ID{2, 2, 5, 2, 2, 4}},
		{unknown{2, true}, false, "xxabyyb", []vocab.ID{2, 5, 2, 4}}, {unknown{2, true}, false, "x y", []vocab.ID{2, 2}}, {unknown{2, true}, false, "xay", []vocab.ID{2, 3, 2}},
		{unknown{id: none}, false, "abb", []vocab.ID{5, 4}}, {unknown{id: none}, true, "abb", []vocab.ID{6}}, {unknown{id: none}, true, "ba", []vocab.ID{4, 3}},
		{unknown{id: none}, true, "babb", []vocab.ID{4, 5, 4}}, {unknown{id: none}, true, "", nil},
	} {
		f := gpt2()
		f.ignoreMerges, f.added, f.addedIDs = c.whole, []string{"ba"}, map[string]vocab.ID{"ba": 7}
		if !c.whole || c.text == "ba" || c.text == "babb" {
			f.added = nil
		}
		b, err := newBPE(f, pieces[:7], special, pairs, c.unknown)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from the cache
			if got, err := b.Encode(c.text); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q with %+v, whole words %v: %v, want %v", c.text, c.unknown, c.whole, got, c.want)
			}
		}
	}
	f := gpt2()
	f.ignoreMerges, f.added, f.addedIDs = true, []string{"ba"}, map[string]vocab.ID{"ba": 7}
	b, err := newBPE(f, pieces, special, pairs, unknown{id: none})
	if err != nil {
		t.Fatal(err)
	}
	if b.whole["ba"] != 0 || b.whole["abb"] != 6 || b.whole["a"] != 3 || len(b.whole) != 4 {
		t.Errorf("whole words are %v", b.whole)
	}
	if got, err := b.Encode("abbaab"); err != nil || !slices.Equal(got, []vocab.ID{5, 7, 5}) {
		t.Errorf("an added token within a word: %v, %v", got, err)
	}
	for id, want := range map[vocab.ID]string{0: "<pad>", 7: "ba", 8: "<id 8>", -1: "<id -1>"} {
		if got := b.Token(id); got != want {
			t.Errorf("token %d is %q, want %q", id, got, want)
		}
	}
	if got, err := b.EncodeWithDropout("abb", 0, rand.New(rand.NewPCG(1, 1))); err != nil || !slices.Equal(got, []vocab.ID{5, 4}) {
		t.Errorf("without dropout: %v, %v", got, err)
	}
}
