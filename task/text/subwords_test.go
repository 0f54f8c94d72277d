package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// The three parts of a text put together are the text; its end is spelled in small pieces, because they were found before it.
// Caught when planted: subwords of the whole text.
func TestSubwordsOfAText(t *testing.T) {
	content := strings.Repeat("änderung über alles\n", 90) + strings.Repeat("quetzalcoatl☃\n", 14)
	c := Text{Tokenizer: vocab.Subwords, Length: 8, Choice: subword.Choice{TokenizerSize: 300}}.resolved()
	opened, err := c.open(content, task.Vocabularies{})
	if err != nil {
		t.Fatal(err)
	}
	tasktest.Run(t, opened)
	tasktest.Files(t, c, opened, true)
	tk, v := opened.(*Task), opened.Vocabularies()
	all := slices.Clone(tk.training)
	for _, part := range [][]task.Example{tk.validation, tk.test} {
		for _, e := range part {
			all = append(all, e.Target...)
		}
	}
	if text := v.TargetText(all); text != content {
		t.Errorf("put together, the parts are %q", text)
	}
	if tokens, _ := v.Split("änderung"); len(tokens) != 1 {
		t.Errorf("a word of training is cut into %q", tokens)
	}
	if tokens, _ := v.Split("quetzalcoatl"); len(tokens) < 6 {
		t.Errorf("a word that is held out is cut into %q", tokens)
	}
}

func TestSubwordsOfLines(t *testing.T) {
	var content strings.Builder
	for i := range 400 {
		fmt.Fprintf(&content, "line %d of some\n\n", i)
	}
	c := Text{Tokenizer: vocab.Subwords, Lines: true, Length: 12, Choice: subword.Choice{TokenizerSize: 320}}.resolved()
	opened, err := c.open(content.String(), task.Vocabularies{})
	if err != nil {
		t.Fatal(err)
	}
	tasktest.Run(t, opened)
	tasktest.Files(t, c, opened, false)
	tk := opened.(*Task)
	if n := len(tk.lines) + len(tk.validation) + len(tk.test); n != 400 || len(tk.validation) == 0 {
		t.Errorf("%d lines of 400 are used", n)
	}
}

// Examples that are not of a text's segments, such as those that others make, have the words of their targets.
func TestWordsOfOthers(t *testing.T) {
	tk := opened(t, Text{Path: file(t, numbered(400))})
	ids, _ := tk.ids.Target.EncodeLossy(strings.Split("  w1 w2  ", ""))
	if got := wordsOf(tk.ids)(task.Example{Target: ids}); got != 2 {
		t.Errorf("%d words", got)
	}
}
