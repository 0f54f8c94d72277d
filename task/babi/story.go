package babi

import (
	"errors"
	"fmt"
	"strings"
)

// Story reads a story and its question in free form. Sentences end with a punctuation mark or at the end of their line; the question
// comes last. Numbers at the start of lines, and text after a tab, as in the bAbI files, are ignored.
func Story(text string) (Question, error) {
	var sentences []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "\t")
		line = strings.TrimLeft(strings.TrimSpace(line), "0123456789")
		sentences = append(sentences, split(line)...)
	}
	if len(sentences) < 2 {
		return Question{}, errors.New("a story needs at least one fact, and then a question")
	}
	q := Question{}
	for i, s := range sentences {
		last := i == len(sentences)-1
		mark := "."
		if last {
			mark = "?"
		}
		sentence, err := Sentence(s, mark)
		if err != nil {
			return Question{}, fmt.Errorf("sentence %d: %w", i+1, err)
		}
		switch asks := strings.HasSuffix(sentence, " ?"); {
		case asks && !last:
			return Question{}, fmt.Errorf("sentence %d, %q, is a question, but more follows: put the question last", i+1, clip(s))
		case !asks && last:
			return Question{}, errors.New("the last sentence is not a question: end it with a question mark")
		}
		if last {
			q.Text = sentence
		} else {
			q.Facts = append(q.Facts, sentence)
		}
	}
	return q, nil
}

// split splits a line after every mark that ends a sentence.
func split(line string) (sentences []string) {
	for _, part := range strings.SplitAfter(strings.NewReplacer(".", ".\n", "?", "?\n", "!", "!\n").Replace(line), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			sentences = append(sentences, part)
		}
	}
	return sentences
}
