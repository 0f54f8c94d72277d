package vocab_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

func must(t *testing.T, tokens []string, opts ...vocab.Option) *vocab.Vocabulary {
	t.Helper()
	v, err := vocab.New(tokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIDs(t *testing.T) {
	v := must(t, []string{"b", "a", "ö"}, vocab.WithUnknown())
	if v.Size() != 6 {
		t.Errorf("size %d, want 6: padding, end, three tokens, unknown", v.Size())
	}
	for id, want := range []string{"<pad>", "<end>", "b", "a", "ö", "<unknown>", "<id 6>"} {
		if got := v.Token(vocab.ID(id)); got != want {
			t.Errorf("Token(%d) = %q, want %q", id, got, want)
		}
	}
	if got := v.Token(-1); got != "<id -1>" {
		t.Errorf("Token(-1) = %q", got)
	}
	for token, want := range map[string]vocab.ID{"b": 2, "a": 3, "ö": 4, "<unknown>": 5} {
		if got, ok := v.ID(token); !ok || got != want {
			t.Errorf("ID(%q) = %d, %v, want %d", token, got, ok, want)
		}
	}
	for _, token := range []string{"<pad>", "<end>", "c", ""} {
		if id, ok := v.ID(token); ok {
			t.Errorf("ID(%q) = %d, want none", token, id)
		}
	}
	if _, ok := must(t, []string{"b"}).ID("<unknown>"); ok {
		t.Error("a vocabulary without an unknown token knows <unknown>")
	}
	var zero vocab.Vocabulary
	if zero.Size() != 2 || zero.Token(1) != "<end>" || zero.HasUnknown() {
		t.Error("the zero vocabulary is not padding and end")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tokens := range [][]string{{"a", ""}, {"a", "b", "a"}, {"<pad>"}, {"<end>"}, {"<unknown>"}, {"\xff"}} {
		if _, err := vocab.New(tokens); err == nil {
			t.Errorf("New accepts %q", tokens)
		}
	}
}

func TestBuildOrdersByFrequencyThenBytes(t *testing.T) {
	sequences := [][]string{{"c", "a", "b", "b"}, {"c", "b", "rare"}, {"a"}}
	want := []string{"b", "a", "c"} // 3, 2, 2; "rare" once
	for range 2 {
		v, err := vocab.Build(slices.Values(sequences), 2, vocab.WithUnknown())
		if err != nil || !slices.Equal(v.Tokens(), want) {
			t.Fatalf("Build gives %q, %v, want %q", v.Tokens(), err, want)
		}
		slices.Reverse(sequences)
	}
}

func TestEncodeAndDecode(t *testing.T) {
	v := must(t, []string{"a", "b"}, vocab.WithUnknown())
	ids, err := v.Encode([]string{"b", "a", "b"})
	if err != nil || !slices.Equal(ids, []vocab.ID{3, 2, 3}) {
		t.Errorf("Encode = %v, %v", ids, err)
	}
	var unknown *vocab.UnknownTokenError
	if _, err := v.Encode([]string{"a", "z", "y"}); !errors.As(err, &unknown) || unknown.Token != "z" || unknown.Position != 1 {
		t.Errorf("Encode of an unknown token: %v", err)
	}
	if ids, n := v.EncodeLossy([]string{"z", "a", "y"}); n != 2 || !slices.Equal(ids, []vocab.ID{4, 2, 4}) {
		t.Errorf("EncodeLossy = %v, %d", ids, n)
	}
	if got := v.Decode([]vocab.ID{3, 0, 2, 4, 1, 3}); !slices.Equal(got, []string{"b", "a", "<unknown>"}) {
		t.Errorf("Decode = %q: it skips padding and stops at end", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("EncodeLossy without an unknown token does not panic")
		}
	}()
	must(t, nil).EncodeLossy([]string{"a"})
}

func TestEqual(t *testing.T) {
	a := must(t, []string{"a", "b"})
	if !a.Equal(must(t, []string{"a", "b"})) {
		t.Error("equal vocabularies are not Equal")
	}
	for _, other := range []*vocab.Vocabulary{must(t, []string{"b", "a"}), must(t, []string{"a"}), must(t, []string{"a", "b"}, vocab.WithUnknown()), nil} {
		if a.Equal(other) {
			t.Errorf("Equal to %v", other)
		}
	}
}

func TestJSON(t *testing.T) {
	v := must(t, []string{"a", "\t", "ö"}, vocab.WithUnknown())
	data, err := json.Marshal(v)
	if want := `{"tokens":["a","\t","ö"],"unknown":true}`; err != nil || string(data) != want {
		t.Fatalf("JSON is %s, %v, want %s", data, err, want)
	}
	var back vocab.Vocabulary
	if err := json.Unmarshal(data, &back); err != nil || !back.Equal(v) {
		t.Fatalf("read back: %v", err)
	}
	for _, bad := range []string{`{}`, `{"tokens":["a","a"]}`, `{"tokens":[""]}`, `{"tokens":["<pad>"]}`, `{"tokens":["a"],"x":1}`, `[]`, `{"tokens":"ab"}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		tokens vocab.Tokenizer
		text   string
		want   []string
	}{
		{vocab.Characters, "a öb", []string{"a", " ", "ö", "b"}},
		{vocab.Characters, "", nil},
		{vocab.Characters, "\ufffd", []string{"\ufffd"}}, // the replacement character itself is valid
		{vocab.Whitespace, "  two \t words ", []string{"two", "words"}},
	} {
		got, err := c.tokens.Split(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v.Split(%q) = %q, %v, want %q", c.tokens, c.text, got, err, c.want)
		}
	}
	if _, err := vocab.Characters.Split("öb\xffc"); err == nil || !strings.Contains(err.Error(), "byte 4") {
		t.Errorf("invalid UTF-8: %v", err)
	}
	if _, err := vocab.Tokenizer(2).Split("a"); err == nil {
		t.Error("Tokens(2) splits")
	}
}

func TestTokensAsText(t *testing.T) {
	for tokens, want := range map[vocab.Tokenizer]string{vocab.Characters: `"characters"`, vocab.Whitespace: `"whitespace"`} {
		data, err := json.Marshal(tokens)
		if err != nil || string(data) != want {
			t.Errorf("JSON of %v is %s, %v", tokens, data, err)
		}
		var back vocab.Tokenizer
		if err := json.Unmarshal(data, &back); err != nil || back != tokens {
			t.Errorf("%s reads back as %v, %v", data, back, err)
		}
	}
	var s vocab.Tokenizer
	if err := s.UnmarshalText([]byte("letters")); err == nil {
		t.Error(`"letters" is accepted`)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a b  c", true)
	f.Add("ö\xff", false)
	f.Fuzz(func(t *testing.T, text string, words bool) {
		tokens := vocab.Characters
		if words {
			tokens = vocab.Whitespace
		}
		split, err := tokens.Split(text)
		if err != nil {
			return
		}
		joined := tokens.Join(split)
		if !words && joined != text {
			t.Fatalf("%q is joined to %q", text, joined)
		}
		if again, err := tokens.Split(joined); err != nil || !slices.Equal(again, split) {
			t.Fatalf("%q splits to %q, joined and split again to %q (%v)", text, split, again, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"tokens":["a","b"],"unknown":true}`))
	f.Add([]byte(`{"tokens":["a","a"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v, back vocab.Vocabulary
		if json.Unmarshal(data, &v) != nil {
			return
		}
		for id := vocab.ID(2); int(id) < v.Size(); id++ {
			if got, ok := v.ID(v.Token(id)); !ok || got != id {
				t.Fatalf("token %q of id %d has id %d", v.Token(id), id, got)
			}
		}
		written, err := json.Marshal(&v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &back); err != nil || !back.Equal(&v) {
			t.Fatalf("%s does not read back: %v", written, err)
		}
	})
}
