package text

import (
	"fmt"
	"strings"

	"universal-transformer/internal/seed"
)

// divideText holds out the end of a continuous text.
func (t *Task) divideText(lines []line) error {
	parts, _, err := t.config.split(lines, t.config.Tokenizer.Split)
	if err != nil {
		return err
	}
	tokens := parts[0]
	held := int(t.config.HeldOut * float64(len(tokens)))
	training, validation, test := tokens[:len(tokens)-held], tokens[len(tokens)-held:len(tokens)-held/2], tokens[len(tokens)-held/2:]
	if err := t.build([][]string{training}); err != nil {
		return err
	}
	return t.takeText(training, validation, test)
}

// takeText makes examples from the parts of a continuous text.
func (t *Task) takeText(training, validation, test []string) (err error) {
	if len(training) < t.config.Length || len(validation) < 2 || len(test) < 2 {
		return fmt.Errorf("%d tokens are too few for segments of length %d with held_out %v: add text or lower task.length",
			len(training)+len(validation)+len(test), t.config.Length, t.config.HeldOut)
	}
	t.training = encode(t.ids.Target, training)
	t.rare = rareTokens(t.ids.Target, training, t.training)
	t.longest = t.config.Length
	t.validation = t.config.examples(t.ids, cut(validation, t.config.Length))
	t.test = t.config.examples(t.ids, cut(test, t.config.Length))
	return nil
}

// divideLines holds out lines by number, the same in every run.
func (t *Task) divideLines(lines []line) error {
	parts, notes, err := t.config.split(lines, t.config.Tokenizer.Split)
	if err != nil {
		return err
	}
	t.notes = append(t.notes, notes...)
	training, validation, test := divide(parts, t.config.HeldOut, joined)
	if err := t.build(training); err != nil {
		return err
	}
	return t.takeLines(training, validation, test)
}

// divide holds out a fraction of a list, half of it for validation. An item that occurs several times, as its text says, goes where the first one goes.
func divide[T any](list []T, share float64, text func(T) string) (training, validation, test []T) {
	order := seed.NewPermutation(0, "text/held-out", 0, len(list))
	held := int(share * float64(len(list)))
	parts := map[string]*[]T{}
	for i, item := range list {
		part := parts[text(item)]
		if part == nil {
			switch at := order.At(i); {
			case at < held/2:
				part = &validation
			case at < held:
				part = &test
			default:
				part = &training
			}
			parts[text(item)] = part
		}
		*part = append(*part, item)
	}
	return training, validation, test
}

// joined is the text of a line for divide: its tokens.
func joined(tokens []string) string { return strings.Join(tokens, "\n") }

// takeLines makes examples from lines.
func (t *Task) takeLines(training, validation, test [][]string) error {
	if len(training) == 0 || len(validation) == 0 || len(test) == 0 {
		return fmt.Errorf("%d lines are too few with held_out %v, or too many are repeated: add lines or raise task.held_out", len(training)+len(validation)+len(test), t.config.HeldOut)
	}
	t.lines, t.validation, t.test = t.config.examples(t.ids, training), t.config.examples(t.ids, validation), t.config.examples(t.ids, test)
	for _, e := range t.lines {
		t.longest = max(t.longest, len(e.Target))
	}
	return nil
}
