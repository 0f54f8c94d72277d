package pipeline_test

import (
	"bytes"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// The tokens of lines that are answered together add up to the answers, characters and subwords, and their steps are those of the traces of
// the same lines. Caught when planted: steps of another line or of the next token; texts of tokens without the blanks between them.
func TestStreamTokens(t *testing.T) {
	different := map[int]bool{}
	for dir, lines := range map[string][]string{
		copierDir:               {"2026", "x", "31"},
		"../models/translation": {"Two dogs are playing in the snow.", "A café in the rain ☂.", "A man."},
	} {
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		tokens := make([][]pipeline.Token, len(lines))
		var streamed bytes.Buffer
		answers, err := m.StreamTokens(t.Context(), &streamed, lines, pipeline.DecodeOptions{}, func(line int, token pipeline.Token) { tokens[line] = append(tokens[line], token) })
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if answers[i].Err != nil {
				if len(tokens[i]) > 0 {
					t.Errorf("%q has no answer, but tokens %v", line, tokens[i])
				}
				continue
			}
			trace, err := m.Trace(t.Context(), line)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for k, token := range tokens[i] {
				if text += token.Text; float64(token.Steps) != trace.Decoder.Updates[k] {
					t.Errorf("%q: token %d took %d steps, the trace says %v", line, k, token.Steps, trace.Decoder.Updates)
				}
				different[token.Steps] = true
			}
			if text != answers[i].Text || len(tokens[i]) != len(trace.Target) || strings.Split(streamed.String(), "\n")[i] != text {
				t.Errorf("%q: tokens %v, answer %q, streamed %q", line, tokens[i], answers[i].Text, &streamed)
			}
		}
	}
	if len(different) < 2 {
		t.Errorf("all tokens take %v steps: this shows little", different)
	}
}
