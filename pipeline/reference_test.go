package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// Evaluation answers as decoding does, by beam search and greedily, whatever the reference: the same sources with targets of one and of many
// tokens have the same answers. The model is one of nearly random weights, whose answers mostly do not end: they become as long as the
// longest training target, which has 70 letters and End, more than four times the source and 50, or as long as MaxLength.
// Caught when planted: a limit from the target; the limit of the source alone; an evaluation without MaxLength.
func TestReferenceDoesNotInfluenceAnswers(t *testing.T) {
	var lines, short, long strings.Builder
	var sources []string
	for i := range 40 {
		fmt.Fprintf(&lines, "%d\t%s\n", i, strings.Repeat("abcdefghij", 7))
		if i%3 == 0 {
			sources = append(sources, fmt.Sprint(i))
			fmt.Fprintf(&short, "%d\ta\n", i)
			fmt.Fprintf(&long, "%d\t%s\n", i, strings.Repeat("ab", 400))
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), brief(t, lines.String()), dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	references := []string{dir + "-short.tsv", dir + "-long.tsv"}
	for i, content := range []string{short.String(), long.String()} {
		if err := os.WriteFile(references[i], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cut := 0
	for _, beam := range []decoding.Beam{{}, {Width: 1, Alpha: 0.6}, {Width: 3, Alpha: 0.6}, {Width: 2, Alpha: 3}} {
		for _, limit := range []int{0, 9} {
			want, err := m.Decode(t.Context(), sources, pipeline.DecodeOptions{Method: decoding.Method{Beam: beam}, MaxLength: limit})
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range references {
				got, err := m.Evaluate(t.Context(), pipeline.Protocol{File: file, Beam: beam, MaxLength: limit})
				if err != nil {
					t.Fatal(err)
				}
				for i, answer := range got.Answers {
					if text := m.Vocabularies.TargetText(answer.Tokens); text != want[i].Text {
						t.Errorf("%+v, limit %d, %s: the answer to %s is %q, that of decoding %q", beam, limit, filepath.Base(file), sources[i], text, want[i].Text)
					}
					if !want[i].Finished {
						cut++
						if n := map[int]int{0: 71, 9: 9}[limit]; len(answer.Tokens) != n {
							t.Errorf("%+v, limit %d: an answer that does not end has %d tokens, want %d", beam, limit, len(answer.Tokens), n)
						}
					}
				}
			}
		}
	}
	if cut == 0 {
		t.Error("all answers end: the case shows nothing")
	}
}
