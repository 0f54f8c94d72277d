package pipeline_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// An answer ends before a text of Stop, and decoding at the token that completes it; the tokens are those that the shortened answer needs. Other
// answers are as without Stop.
// Caught when planted: decoding that goes on, a text that is kept, tokens of the text that are counted, an answer that counts as cut off.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		dir, line string
		stops     []string
		cut       bool
	}{
		{copierDir, "2026", []string{"26", "6"}, true}, {copierDir, "2026", []string{"9"}, false}, {copierDir, "2026", []string{"2"}, true},
		{"../models/translation", "Two dogs are playing in the snow.", []string{"unde sp"}, true},
		{"../models/translation", "Two dogs are playing in the snow.", []string{" "}, true},
	} {
		m, err := pipeline.Load(c.dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		var texts []string // after each token
		text := ""
		whole, err := m.StreamTokens(t.Context(), io.Discard, []string{c.line}, pipeline.DecodeOptions{}, func(_ int, token pipeline.Token) {
			text += token.Text
			texts = append(texts, text)
		})
		if err != nil {
			t.Fatal(err)
		}
		want, decoded, tokens := text, len(texts), whole[0].Tokens()
		for n := len(texts); n > 0; n-- {
			if at := earliest(texts[n-1], c.stops); at >= 0 {
				want, decoded = texts[n-1][:at], n
			}
		}
		if want == "" {
			tokens = 0
		} else if want != text {
			tokens = 1 + slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, want) })
		}
		if c.cut != (want != text) {
			t.Errorf("%q has the answer %q: this shows little of %q", c.line, text, c.stops)
		}
		seen := 0
		got, err := m.StreamTokens(t.Context(), io.Discard, []string{c.line}, pipeline.DecodeOptions{Stop: c.stops}, func(int, pipeline.Token) { seen++ })
		if err != nil || got[0].Text != want || seen != decoded || got[0].Tokens() != tokens || !got[0].Finished {
			t.Errorf("%q before %q: %+v with %d tokens after %d, want %q with %d after %d; %v", c.line, c.stops, got[0], got[0].Tokens(), seen, want, tokens, decoded, err)
		}
	}
	m := load(t)
	for want, o := range map[string]pipeline.DecodeOptions{
		"choose one": {Stop: []string{"1"}, Method: decoding.Method{Beam: decoding.Beam{Width: 2}}}, "an empty text": {Stop: []string{""}},
	} {
		if _, err := m.Decode(t.Context(), []string{"12"}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// earliest returns where the first of some texts begins, or -1.
func earliest(text string, stops []string) int {
	for i := range text {
		if slices.ContainsFunc(stops, func(stop string) bool { return strings.HasPrefix(text[i:], stop) }) {
			return i
		}
	}
	return -1
}
