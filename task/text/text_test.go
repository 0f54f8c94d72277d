package text

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// file writes a text of its own directory.
func file(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbered is a text in which every place can be told from every other: "w0 w1 w2 ...", ten words a line.
func numbered(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "w%d%s", i, map[bool]string{true: "\n", false: " "}[i%10 == 9])
	}
	return b.String()
}

func opened(t testing.TB, c Text) *Task {
	t.Helper()
	tk, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return tk.(*Task)
}

func TestConformance(t *testing.T) {
	path := file(t, numbered(5000))
	for name, c := range map[string]Text{
		"characters":       {Path: path, Length: 20},
		"words":            {Path: path, Length: 7, Tokenizer: vocab.Whitespace, HeldOut: 0.3},
		"lines":            {Path: path, Lines: true, HeldOut: 0.2},
		"lines of words":   {Path: path, Lines: true, Tokenizer: vocab.Whitespace, HeldOut: 0.2},
		"the default cuts": {Path: path},
	} {
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, opened(t, c))
			tasktest.Files(t, c, opened(t, c), false)
		})
	}
}

// An epoch has every piece once, none overlaps another or what is held out, and two epochs begin at other places; held out is the
// end of the text, validation before test, all of it once.
// Caught when planted: pieces drawn at random, the same offset in every epoch, a test that overlaps training.
func TestPieces(t *testing.T) {
	const length = 8
	c := Text{Path: file(t, numbered(1000)), Tokenizer: vocab.Whitespace, Length: length}
	tk := opened(t, c)
	place := func(id vocab.ID) int { // of training tokens, by their spelling
		var n int
		if _, err := fmt.Sscanf(tk.Vocabularies().Target.Token(id), "w%d", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	n, starts := tk.count(), map[int]map[int]bool{}
	for epoch := range 3 {
		seen := map[int]bool{}
		starts[epoch] = map[int]bool{}
		for i := range n {
			piece := tk.Training(5, int64(epoch*n+i)).Target
			starts[epoch][place(piece[0])%length] = true
			for k, id := range piece {
				if at := place(id); at != place(piece[0])+k || at >= 900 || seen[at] {
					t.Fatalf("epoch %d, piece %d has word %d, seen before: %v", epoch, i, at, seen[at])
				}
				seen[place(id)] = true
			}
		}
		if len(seen) != n*length || len(starts[epoch]) != 1 || n*length < 900-2*length {
			t.Errorf("epoch %d has %d words of 900, offsets %v", epoch, len(seen), starts[epoch])
		}
	}
	if fmt.Sprint(starts[0], starts[1], starts[2]) == fmt.Sprint(starts[0], starts[0], starts[0]) {
		t.Errorf("epochs begin at the same offsets: %v", starts)
	}
	var held []vocab.ID
	for _, validation := range []bool{true, false} {
		examples, err := tk.HeldOut(1, task.Selection{Validation: validation})
		if err != nil || len(examples) != 7 {
			t.Fatalf("%d pieces of 50 words, %v", len(examples), err)
		}
		for _, e := range examples {
			held = append(held, e.Target...)
		}
	}
	unknown, _ := tk.Vocabularies().Target.Unknown()
	if len(held) != 100 || slices.ContainsFunc(held, func(id vocab.ID) bool { return id != unknown }) { // no held-out word is trained on
		t.Errorf("held out are %v", held)
	}
}

// Lines are held out whole, none is on two sides, and each ends.
func TestLines(t *testing.T) {
	tk := opened(t, Text{Path: file(t, "\ufeff"+strings.ReplaceAll(numbered(500), "\n", "\r\n")+"\r\n"+strings.Repeat("x ", 200)), Lines: true, Tokenizer: vocab.Whitespace, Length: 20, HeldOut: 0.2})
	if tk.count() != 40 || len(tk.validation) != 5 || len(tk.test) != 5 || tk.longest != 11 {
		t.Errorf("%d, %d, %d lines, the longest of %d", tk.count(), len(tk.validation), len(tk.test), tk.longest)
	}
	if got := tk.Notes()[0]; !strings.Contains(got, ": lines skipped: 2 (1 empty, 1 longer than task.length, 20 tokens: raise it)") {
		t.Error(got)
	}
	for i := range int64(40) {
		if e := tk.Training(1, i); len(e.Target) != 11 || e.Target[10] != vocab.End {
			t.Errorf("line %v", e)
		}
	}
}

// A line that occurs several times is in one part, with every tokenizer; parts are about as large as without repetitions. Of a single line, nothing
// can be held out. Caught when planted: lines held out by their number alone.
func TestRepeatedLines(t *testing.T) {
	content := strings.Repeat(numbered(400), 3)
	for _, c := range []Text{{}, {Tokenizer: vocab.Whitespace}, {Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 300}}} {
		c.Path, c.Lines, c.Length, c.HeldOut = file(t, content), true, 90, 0.2
		tk := opened(t, c)
		in := map[string]int{}
		for part, examples := range [][]task.Example{tk.lines, tk.validation, tk.test} {
			for _, e := range examples {
				if text := fmt.Sprint(e.Target); c.Tokenizer != vocab.Whitespace || part == 0 { // held-out words are unknown
					if at, known := in[text]; known && at != part {
						t.Fatalf("%v: a line is in parts %d and %d", c.Tokenizer, at, part)
					}
					in[text] = part
				}
			}
		}
		if n, held := len(tk.lines), len(tk.validation)+len(tk.test); n+held != 120 || held < 9 || held > 39 || len(tk.validation) == 0 || len(tk.test) == 0 {
			t.Errorf("%v: %d lines for training, %d held out", c.Tokenizer, n, held)
		}
	}
	c := Text{Path: file(t, strings.Repeat("again and again\n", 500)), Lines: true, Tokenizer: vocab.Whitespace, Length: 20}
	if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), "500 lines are too few with held_out 0.1, or too many are repeated") {
		t.Error(err)
	}
}

// The words of all segments are those that `printf ... | wc -w` counts: 300 in a text with indented lines, runs of blanks, and white space
// at both ends; 6 in each pair of lines. Segments of every length have as many, whatever they cut.
// Caught when planted: a word counted in both segments, the white space at an end counted, a run of blanks counted twice.
func TestWords(t *testing.T) {
	content := strings.Repeat("  \tNow,  is the winter\n\n    of our discontent \t made glorious summer\n", 30) + "  "
	whole := func(tk *Task, parts [][]string) (n int) {
		for _, e := range tk.config.examples(tk.ids, parts) {
			n += wordsOf(tk.ids)(e)
		}
		return n
	}
	for _, length := range []int{2, 3, 7, 128} {
		tk := opened(t, Text{Path: file(t, content), Length: length})
		if got := whole(tk, cut(strings.Split(content, ""), length)); got != 300 {
			t.Errorf("segments of %d characters: %d words", length, got)
		}
		tk = opened(t, Text{Path: file(t, content), Length: length, Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 270}})
		tokens, err := tk.ids.Split(content)
		if err != nil {
			t.Fatal(err)
		}
		if got := whole(tk, cut(tokens, length)); got != 300 {
			t.Errorf("segments of %d subwords: %d words", length, got)
		}
	}
	var pairs strings.Builder
	for i := range 20 {
		fmt.Fprintf(&pairs, "  to be or not%d \nthat is%d\n", i, i)
	}
	lines := opened(t, Text{Path: file(t, pairs.String()), Lines: true})
	total := 0
	for _, e := range slices.Concat(lines.lines, lines.validation, lines.test) {
		total += wordsOf(lines.ids)(e)
	}
	if total != 120 {
		t.Errorf("%d words in lines", total)
	}
}

// A file to score is cut as training is; a text to score ends as training's do; a prompt may be empty.
func TestReader(t *testing.T) {
	for _, lines := range []bool{false, true} {
		c := Text{Path: file(t, numbered(500)), Lines: lines, Length: 90}
		tk := opened(t, c)
		reader := c.Reader(tk.Vocabularies())
		examples, _, err := reader.File(file(t, "w1 w2\nw3 é\n"))
		unknown, _ := tk.ids.Target.Unknown()
		if err != nil || len(examples) != map[bool]int{false: 1, true: 2}[lines] || !slices.Contains(examples[len(examples)-1].Target, unknown) {
			t.Errorf("%v, %v", examples, err)
		}
		target, err := reader.Target("w1")
		if ends := target[len(target)-1] == vocab.End; err != nil || ends != lines {
			t.Errorf("%v, %v", target, err)
		}
		if in, err := reader.Read(""); err != nil || len(in.Source) != 0 {
			t.Errorf("an empty prompt: %v, %v", in, err)
		}
		if in, err := reader.Read("w1é"); err != nil || len(in.Source) != 3 || !slices.Equal(in.Unknown, []string{"é"}) {
			t.Errorf("a prompt: %+v, %v", in, err)
		}
	}
}

// What cannot be read says why, and what to do.
func TestRefuses(t *testing.T) {
	for want, c := range map[string]Text{
		"path is empty":   {},
		"length is 1":     {Path: "x", Length: 1},
		"held_out is 1":   {Path: "x", HeldOut: 1},
		"min_count is -1": {Path: "x", MinCount: -1},
		"no such file":    {Path: "nowhere.txt"},
		"line 1 is not valid UTF-8 at byte 2: convert the file to UTF-8, from Windows-1252 for instance, with: iconv -f WINDOWS-1252 -t UTF-8 ": {Path: file(t, "a\xff")},
		"min_count is 9, but no token occurs more than 2 times: choose at most that":                                                            {Path: file(t, "a\nb\nc\na\nb\nc d\n"), Lines: true, MinCount: 9, Tokenizer: vocab.Whitespace, HeldOut: 0.5},
		"too few for segments of length 128": {Path: file(t, "short")},
		"no line is usable":                  {Path: file(t, "\n\n"), Lines: true},
		"2 lines are too few":                {Path: file(t, "a\nb\n"), Lines: true},
		"has the reserved token <end>":       {Path: file(t, "a <end> b"), Tokenizer: vocab.Whitespace},
	} {
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// Whatever a file holds, it is refused or makes a task that keeps the rules.
func FuzzOpen(f *testing.F) {
	for _, content := range []string{numbered(40), "a\r\nb\r\nc", "\ufeffx\x00y\n\n", "é\xff"} {
		f.Add(content, true, uint8(2))
		f.Add(content, false, uint8(9))
	}
	f.Fuzz(func(t *testing.T, content string, lines bool, length uint8) {
		c := Text{Path: "x", Lines: lines, Length: int(length), HeldOut: 0.4}
		if c.Validate() != nil {
			return
		}
		tk, err := c.resolved().open(content, task.Vocabularies{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error %q does not name the file, or is no line", err)
			}
			return
		}
		for i := range int64(5) {
			if err := tasktest.Check(tk, tk.Training(1, i)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
