package lambada

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
)

// The last sentence is the one with the last word, whatever quotes stand between, also if it has no other word than that.
// Caught when planted: sentences that end at abbreviations or before the quote.
func TestPassage(t *testing.T) {
	for text, want := range map[string]string{
		"`` where is mr. bell ? '' she said . `` i saw bell": "`` i saw",
		"he went . '' she came":                              "she",
		"nothing ends here":                                  "nothing ends",
		"he went home . bell":                                "he went home .",
		"he saw ... ' -rrb- `` and what of bell":             "`` and what of",
	} {
		p := newPassage(strings.Fields(text), 1)
		if got := strings.Join(p.sentence(), " "); got != want || !slices.Equal(append(append(slices.Clone(p.context()), p.sentence()...), p.answer()), strings.Fields(text)) {
			t.Errorf("%q: the question is %q, want %q", text, got, want)
		}
	}
}

// Bad lines are named with file and line. No version takes the other's.
func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		version    Version
		text, want string
	}{
		{Plain, "", "x:1: the file is empty"},
		{Plain, "he saw anna\nanna\n", "x:2: a passage has at least two words"},
		{Plain, "he saw anna\n\n", "x:2: a passage has at least two words"},
		{Plain, "he saw anna .\n", `x:1: the passage ends in ".", which is not a word`},
		{Plain, "he <blank> anna\n", "x:1: the reserved token <blank>"},
		{Plain, "he <word-3> anna\n", "x:1: the reserved token <word-3>"},
		{Plain, "he <unknown> anna\n", "x:1: the reserved token <unknown>"},
		{Plain, "he saw\xff anna\n", "x:1: not valid UTF-8"},
		{Plain, "he saw anna\n" + strings.Repeat("a ", longestLine) + "\n", "x:2: the line is longer"},
		{Plain, "he saw anna\n{\"text\": \"He saw Anna\"}\n", "x:2: the file has the version openai"},
		{OpenAI, "he saw anna\n", `x:1: want an object {"text": "..."}`},
		{OpenAI, "{\"text\": \"He saw Anna\"}\n{\"word\": \"a\"}\n", `x:2: want an object`},
		{OpenAI, "{\"text\": 3}\n", `x:1: want an object`},
		{OpenAI, "{\"text\": \"Anna\"}\n", "x:1: a passage has at least two words"},
		{OpenAI, "{\"text\": \"He saw Anna.\"}\n", "which is not a word"},
		{OpenAI, "", "x:1: the file is empty"},
	} {
		if _, err := c.version.parse("x", strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.30q: %v, want %q", c.version, c.text, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"a\t3\nb\tmany\n": "x:2: the count", "a\t3\n\t2\n": "x:2: \"\" is not a word", "a b\t3\n": "x:1: \"a b\" is not a word", "a\t2\na\t1\n": "x:2: the word \"a\" occurs a second time",
		"a\t9223372036854775807\na\t1\n": "x:2: the word \"a\" occurs a second time", "a\t9223372036854775808\n": "x:1: the count is \"9223372036854775808\": it must be a number from 0 to",
		"": "x has no words", "a\xff\t2\n": "x:1: not valid UTF-8", "<unknown>\t2\n": "x has no words",
	} {
		if _, err := parseWordList("x", strings.NewReader(text), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("word list %q: %v, want %q", text, err, want)
		}
	}
}

// Of a list that is in another order the most frequent words are first, of equals as they stand.
func TestWordListByCount(t *testing.T) {
	words, err := parseWordList("x", strings.NewReader("a\t3\nb\t9\nc\t3\nd\t1\ne\t9223372036854775807\n"), 2)
	if want := []string{"e", "b", "a", "c"}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%q, %v, want %q", words, err, want)
	}
}

// What cannot be opened says why, and what to do.
// Caught when planted: the first of two books named in kept_out taken for both.
func TestRefuses(t *testing.T) {
	good := data(t)
	with := func(change func(*Data)) Data {
		d := good
		change(&d)
		return d
	}
	empty, few, some := t.TempDir(), t.TempDir(), t.TempDir()
	twice := data(t)
	write(t, twice.Prose, "more/kept.txt", "Another book of the same name.")
	write(t, few, "few.txt", "The man saw a dog again.")
	write(t, some, "some.txt", story(rand.New(rand.NewPCG(1, 2)), 20, "Anna"))
	for want, c := range map[string]task.Definition{
		"path is empty":                    Language{},
		`version is "both"`:                Reading{Data: with(func(d *Data) { d.Version = "both" })},
		"min_count is -1":                  Language{Data: with(func(d *Data) { d.MinCount = -1 })},
		"vocabulary is -2":                 Language{Data: with(func(d *Data) { d.Vocabulary = -2 })},
		"length is 1":                      Language{Data: good, Length: 1},
		"hidden is 1":                      Reading{Data: good, Hidden: 1},
		"the folder has no book other.txt": Language{Data: with(func(d *Data) { d.KeptOut = "other.txt" })},
		filepath.Join(twice.Prose, "kept.txt") + " and " + filepath.Join(twice.Prose, "more", "kept.txt") + " both have the name in kept_out": Language{Data: twice},
		"the folder has no book (.txt)":                       Language{Data: with(func(d *Data) { d.Prose, d.KeptOut = empty, "" })},
		"train-novels is missing":                             Language{Data: with(func(d *Data) { d.Prose, d.KeptOut = "", "" })},
		"is a file: name a folder":                            Language{Data: with(func(d *Data) { d.Prose = filepath.Join(d.Path, Test) })},
		"too few for segments of length 100000":               Language{Data: good, Length: 100_000},
		"7 tokens are too few to hold a fiftieth of them out": Language{Data: Data{Path: good.Path, Version: OpenAI, Prose: few}, Length: 2},
		"the books have only ":                                Reading{Data: Data{Path: good.Path, Version: OpenAI, Prose: some}},
		Development + ": no such file":                        Language{Data: Data{Path: empty, Version: Plain, Prose: good.Prose}},
		OpenAITest + ": no such file":                         Language{Data: Data{Path: empty, Version: OpenAI, Prose: good.Prose}},
	} {
		if strings.HasPrefix(want, Development) {
			write(t, empty, Test, "he saw . then anna\n")
		}
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		_ = os.Remove(filepath.Join(empty, Test))
	}
}

// Whatever a file holds, it is refused with file and line, or gives passages with a context and an answer.
func FuzzPassages(f *testing.F) {
	f.Add("he saw . then `` anna\r\nx y\n", true)
	f.Add("{\"text\": \"He saw \\u201cAnna\"}\n", false)
	f.Add("\ufeffa .\u2028b c\n{", true)
	f.Fuzz(func(t *testing.T, text string, plain bool) {
		version := OpenAI
		if plain {
			version = Plain
		}
		found, err := version.parse("x", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error %q", err)
			}
			return
		}
		for _, p := range found {
			if p.question > len(p.words)-2 || p.answer() == "" || len(p.context())+len(p.sentence())+1 != len(p.words) {
				t.Fatalf("the passage %+v", p)
			}
		}
	})
}

func FuzzWordList(f *testing.F) {
	f.Add("the\t900\nof\t5\n")
	f.Add("the\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		words, err := parseWordList("x", strings.NewReader(text), 2)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x") {
				t.Fatalf("the error %q", err)
			}
			return
		}
		for _, w := range words {
			if w == "" || strings.ContainsAny(w, "\t\n ") {
				t.Fatalf("the word %q", w)
			}
		}
	})
}
