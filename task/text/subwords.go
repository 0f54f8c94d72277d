package text

import (
	"fmt"
	"unicode/utf8"

	"universal-transformer/task"
)

// divideIntoSubwords holds text out before it is tokenized, so that subwords are learned from the training part alone. It holds out
// the last bytes of a continuous text, and lines by their number, including lines that are skipped later.
func (t *Task) divideIntoSubwords(lines []line) error {
	var training, validation, test []line
	if t.config.Lines {
		training, validation, test = divide(lines, t.config.HeldOut, line.content)
	} else {
		training, validation, test = t.config.divideBytes(lines[0].text)
	}
	if t.ids.Target == nil {
		pieces, err := t.config.Pieces(func(yield func(string) bool) {
			for _, l := range training {
				if !yield(l.text) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		t.ids = task.OfPieces(pieces)
		t.ids.Source = nil
	}
	var err error
	var parts [3][][]string
	for i, of := range [][]line{training, validation, test} {
		var notes []string
		if parts[i], notes, err = t.config.split(of, t.ids.Subwords.Split); err != nil {
			return fmt.Errorf("%s: %w", [...]string{"for training", "for validation", "for the test"}[i], err)
		}
		t.notes = append(t.notes, notes...)
	}
	if t.config.Lines {
		return t.takeLines(parts[0], parts[1], parts[2])
	}
	return t.takeText(parts[0][0], parts[1][0], parts[2][0])
}

// divideBytes splits a text into three parts, between characters.
func (c Text) divideBytes(text string) (training, validation, test []line) {
	at := func(share float64) int {
		n := int(share * float64(len(text)))
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		return n
	}
	first, second := at(1-c.HeldOut), at(1-c.HeldOut/2)
	return []line{{1, text[:first]}}, []line{{1, text[first:second]}}, []line{{1, text[second:]}}
}
