package pipeline_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/task/text"
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
		var written strings.Builder
		got, err := m.StreamTokens(t.Context(), &written, []string{c.line}, pipeline.DecodeOptions{Stop: c.stops}, func(int, pipeline.Token) { seen++ })
		if err != nil || got[0].Text != want || seen != decoded || got[0].Tokens() != tokens || !got[0].Finished || written.String() != want+"\n" {
			t.Errorf("%q before %q: %q is written, %+v with %d tokens after %d, want %q with %d after %d; %v", c.line, c.stops, written.String(), got[0], got[0].Tokens(), seen, want, tokens, decoded, err)
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

// A text of Stop is compared with an answer as the model writes it, whose line breaks are spaces in the text that Decode returns and Stream
// writes. Caught when planted: texts compared after line breaks were replaced, in decoding, in the answer and in what is written; an answer
// cut at another place.
func TestStopAtALineBreak(t *testing.T) {
	m := lineWriter(t)
	o := pipeline.DecodeOptions{Method: decoding.Method{Sampling: decoding.Sampling{Temperature: 1, TopP: 1}, Seed: 3}, MaxLength: 12}
	lines := slices.Repeat([]string{"a"}, 80)
	raw := make([]string, len(lines)) // each character is a token
	if _, err := m.StreamTokens(t.Context(), io.Discard, lines, o, func(line int, token pipeline.Token) { raw[line] += token.Text }); err != nil {
		t.Fatal(err)
	}
	for _, stops := range [][]string{{"\n"}, {" "}, {"b\n", "\na"}, {"a ", "\n\n"}} {
		o.Stop = stops
		var written strings.Builder
		seen := make([]string, len(lines))
		streamed, err := m.StreamTokens(t.Context(), &written, lines, o, func(line int, token pipeline.Token) { seen[line] += token.Text })
		if err != nil {
			t.Fatal(err)
		}
		answers, err := m.Decode(t.Context(), lines, o)
		if err != nil {
			t.Fatal(err)
		}
		shown, cut := strings.Split(written.String(), "\n"), 0
		for i, text := range raw {
			want, decoded := text, text
			for n := len(text); n > 0; n-- {
				if at := earliest(text[:n], stops); at >= 0 {
					want, decoded = text[:at], text[:n]
				}
			}
			if want != text {
				cut++
			}
			want = strings.ReplaceAll(want, "\n", " ")
			if answers[i].Text != want || answers[i].Tokens() != len(strings.ReplaceAll(want, "<unknown>", "?")) || streamed[i].Text != want || shown[i] != want || seen[i] != decoded {
				t.Errorf("%q before %q: %q, streamed %q, written %q after %q, want %q after %q", text, stops, answers[i].Text, streamed[i].Text, shown[i], seen[i], want, decoded)
			}
		}
		if len(shown) != len(lines)+1 || cut < 4 || cut > len(lines)-4 && len(stops) > 1 {
			t.Errorf("%d lines are written, %d of them cut at %q", len(shown), cut, stops)
		}
	}
}

// A stream cannot have details; this is said before anything is decoded. Caught when planted: details left out in silence.
func TestStreamWithDetails(t *testing.T) {
	m, o := load(t), pipeline.DecodeOptions{Details: true}
	var written strings.Builder
	for name, stream := range map[string]func() ([]pipeline.Answer, error){
		"Stream": func() ([]pipeline.Answer, error) { return m.Stream(t.Context(), &written, []string{"12"}, o) },
		"StreamTokens": func() ([]pipeline.Answer, error) {
			return m.StreamTokens(t.Context(), &written, []string{"12"}, o, nil)
		},
	} {
		if answers, err := stream(); err == nil || !strings.Contains(err.Error(), "Details is set") || answers != nil || written.Len() > 0 {
			t.Errorf("%s: %+v, %v, %q is written", name, answers, err, written.String())
		}
	}
}

// lineWriter is an untrained language model of the characters a, b, space and line break.
func lineWriter(t *testing.T) *pipeline.Model {
	t.Helper()
	path, dir := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(path, []byte(strings.Repeat("ab \nb", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := brief(t, "")
	r.Task = experiment.Task{Value: text.Text{Path: path, Length: 8, HeldOut: 0.3}}
	r.Model.Value = experiment.LanguageModel(r.Model.Value.(experiment.EncoderDecoder))
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
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
