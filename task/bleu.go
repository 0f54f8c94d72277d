package task

import (
	"context"
	"fmt"

	"universal-transformer/bleu"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
)

// DecodedBLEU decodes all examples and computes the corpus BLEU and chrF of their texts, as sacreBLEU computes them. An answer is
// correct if its text equals the reference.
type DecodedBLEU struct {
	Config bleu.Config
	Text   func(ids []vocab.ID) string // of a target, up to its End
}

// WholeSet marks the measure: BLEU of a sample is not comparable with BLEU of the test set.
func (DecodedBLEU) WholeSet() {}

// Measure decodes every example.
func (d DecodedBLEU) Measure(ctx context.Context, m Model, examples []Example) (Measurement, error) {
	decoded, err := m.Decode(ctx, examples)
	if err != nil {
		return Measurement{}, err
	}
	result, unfinished := Measurement{Method: m.Method()}, 0
	var sum bleu.Statistics
	var characters bleu.ChrFStatistics
	for i, answer := range decoded {
		text, reference := d.Text(answer.Tokens), d.Text(examples[i].Target)
		sum = sum.Plus(d.Config.Statistics(text, reference))
		characters = characters.Plus(bleu.ChrF{}.Statistics(text, reference))
		result.Answers = append(result.Answers, Answer{Tokens: answer.Tokens, Correct: text == reference})
		if !answer.Finished {
			unfinished++
		}
	}
	words, chrF := d.Config.Score(sum), bleu.ChrF{}.Score(characters)
	result.Metrics = []score.Metric{score.Figure("BLEU", words.Value), score.Figure(chrF.Name, chrF.Value)}
	result.Notes = []string{words.String(), chrF.String()}
	if unfinished > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d answers did not end and were cut off", unfinished, len(examples)))
	}
	return result, nil
}
