package text

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// A file to evaluate on is compared with the training part, as long as that can be read: its lines, or its segments wherever they begin.
// Caught when planted: the whole text for the training part, segments that are only found where those of the file begin, a hash that does
// not forget what leaves the window.
func TestFileOfTrainingText(t *testing.T) {
	content := numbered(1000)
	subwords := subword.Choice{TokenizerSize: 300}
	for name, c := range map[string]Text{
		"characters": {Length: 16}, "words": {Tokenizer: vocab.Whitespace, Length: 7}, "subwords": {Tokenizer: vocab.Subwords, Choice: subwords, Length: 9},
		"lines": {Lines: true, Length: 90}, "lines of subwords": {Lines: true, Tokenizer: vocab.Subwords, Choice: subwords, Length: 90},
	} {
		c.Path = file(t, content)
		tk := opened(t, c)
		note := func(content string) (of int, note string) {
			examples, notes, err := c.Reader(tk.ids).File(file(t, content))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(notes, func(line string) bool { return strings.Contains(line, "also in the training part") })
			if at < 0 {
				return len(examples), ""
			}
			return len(examples), notes[at]
		}
		trained := func(got string) (n, of int) {
			if _, err := fmt.Sscanf(got, "%d of %d ", &n, &of); err != nil && got != "" {
				t.Errorf("%s: %q", name, got)
			}
			return n, of
		}
		of, got := note(content)
		if n, all := trained(got); all != of || float64(n) < 0.87*float64(of) || float64(n) > 0.91*float64(of) {
			t.Errorf("%s: of the whole text, %q of %d", name, got, of)
		}
		lines := strings.SplitAfter(content, "\n")
		of, got = note(strings.Join(lines[11:31], ""))
		if n, all := trained(got); all != of || n < of-4 {
			t.Errorf("%s: of a part of it, %q of %d", name, got, of)
		}
		if _, got := note(strings.ReplaceAll(content, "w", "v")); got != "" && c.Tokenizer != vocab.Whitespace {
			t.Errorf("%s: of another text, %q", name, got)
		}
		if err := os.Remove(c.Path); err != nil {
			t.Fatal(err)
		}
		if _, got := note(content); got != "" {
			t.Errorf("%s: without the file, %q", name, got)
		}
	}
}
