package lambada

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"universal-transformer/internal/penn"
	"universal-transformer/task"
)

// WriteExamples writes passages in the form of the version. A segment of the training text is cut after its last word, because a passage
// ends in a word; without two words it is left out.
func (d Data) WriteExamples(w io.Writer, _ task.Vocabularies, examples []task.Example) error {
	buffered := bufio.NewWriter(w)
	for _, e := range examples {
		text := ""
		switch of := e.Origin.(type) {
		case passage:
			text = cmp.Or(of.printed, of.text())
		case segment:
			_, text = of.Text()
			text = untilLastWord(strings.Fields(text))
		default:
			return errors.New("an example was not made by this task")
		}
		if text == "" {
			continue
		}
		if d.Version == OpenAI {
			object, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				return err
			}
			text = string(object)
		}
		_, _ = buffered.WriteString(text + "\n") // Flush returns the error
	}
	return buffered.Flush()
}

// untilLastWord joins words up to the last that is not punctuation; "" if fewer than two are left.
func untilLastWord(words []string) string {
	for len(words) > 0 && !penn.IsWord(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, " ")
}
