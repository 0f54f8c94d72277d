package task_test

import (
	"math"
	"strings"
	"testing"

	"universal-transformer/bleu"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// BLEU is of all answers together. Here 7 of 8 words match, 5 of 6 pairs, 3 of 4 triples and 1 of 2 quadruples, the answer is as long as
// the references: (7/8 * 5/6 * 3/4 * 1/2)^(1/4).
// Caught when planted: the mean of sentences' BLEU, padding behind the end.
func TestDecodedBLEU(t *testing.T) {
	words := strings.Fields("- - the cat sat on mat a dog ran")
	text := func(ids []vocab.ID) string {
		var list []string
		for _, id := range ids {
			if id == vocab.End {
				break
			}
			list = append(list, words[id])
		}
		return strings.Join(list, " ")
	}
	examples := []task.Example{{Source: []vocab.ID{2}, Target: []vocab.ID{2, 3, 4, 5, 1}}, {Source: []vocab.ID{3}, Target: []vocab.ID{7, 8, 9, 5, 1}}}
	g := given{decoded: []task.Decoded{{Tokens: []vocab.ID{2, 3, 4, 5, 1}, Finished: true}, {Tokens: []vocab.ID{7, 8, 9, 6}}}}
	got, err := task.DecodedBLEU{Config: bleu.Config{Tokenizer: bleu.Whitespace}, Text: text}.Measure(t.Context(), g, examples)
	if err != nil {
		t.Fatal(err)
	}
	want := 100 * math.Pow(7.0/8*5/6*3/4*1/2, 0.25)
	if m := got.Metrics[0]; m.Name != "BLEU" || math.Abs(m.Value-want) > 1e-9 || m.Accuracy != (score.Accuracy{}) {
		t.Errorf("%+v, want %v", m, want)
	}
	if !got.Answers[0].Correct || got.Answers[1].Correct || got.Method != "by hand" || got.Metrics[1].Name != "chrF2" {
		t.Errorf("%+v", got)
	}
	notes := strings.Join(got.Notes, "\n")
	if !strings.Contains(notes, "tok:none") || !strings.Contains(notes, "1 of 2 answers did not end") {
		t.Errorf("%s", notes)
	}
}
