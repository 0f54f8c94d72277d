package babi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task/babi"
)

const story = `1 Mary moved to the bathroom.
2 Daniel got the football there.
3 What is Daniel carrying? 	football	2
4 John's back, again.
5 What is Mary carrying?	apple,milk	4 1
1 Sumit is tired.
2 Where will sumit go?	bedroom	1
`

// The expectation is written by hand. Facts of a story go on after a question, whose line is no fact but has a number.
func TestParse(t *testing.T) {
	first := []string{"mary moved to the bathroom .", "daniel got the football there ."}
	want := []babi.Question{
		{Story: 0, Line: 3, Facts: first, Text: "what is daniel carrying ?", Answer: "football", Supports: []int{1}},
		{Story: 0, Line: 5, Facts: append(slices.Clone(first), "john ' s back , again ."), Text: "what is mary carrying ?", Answer: "apple,milk", Supports: []int{2, 0}},
		{Story: 1, Line: 7, Facts: []string{"sumit is tired ."}, Text: "where will sumit go ?", Answer: "bedroom", Supports: []int{0}},
	}
	for _, text := range []string{story, strings.ReplaceAll(story, "\n", "\r\n"), strings.TrimSuffix(story, "\n")} {
		got, err := babi.Parse("qa1_train.txt", strings.NewReader(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is\n%+v, %v, want\n%+v", text, got, err, want)
		}
	}
}

func TestParseNamesTheLineThatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f: no questions in 0 lines"},
		{"1 A b.\n", "f: no questions in 1 lines"},
		{"2 A b.\n", "f:1: the first line has number 2, not 1"},
		{"1 A b.\n3 C d.\n", "f:2: number 3 follows 1: it must be 2"},
		{"1 A b.\n1 C d.\n2 E f.\n2 G h.\n", "f:4: number 2 follows 2"},
		{"A b.\n", `f:1: "A b." does not begin with a number`},
		{"-1 A b.\n", "does not begin with a number"},
		{"1 A b.\n\n2 Where is A?\tb\t1\n", `f:2: "" does not begin`},
		{"1 A b.\n2 Where is A?\tb\n", "f:2: 1 tabs: a fact has none, a question two"},
		{"1 A b.\n2 Where is A?\tb\t1\t\n", "f:2: 3 tabs"},
		{"1 A b.\n2 Where is A? b 1\n", "f:2: the fact"},
		{"1 A b.\n2 Where is A\tb\t1\n", "f:2: the question"},
		{"1 Where is A?\tb\t1\n", "f:1: the question \"where is a ?\" comes before any fact"},
		{"1 A b.\n2 Where is A?\t\t1\n", `f:2: the answer ""`},
		{"1 A b.\n2 Where is A?\tb,\t1\n", `f:2: the answer "b,"`},
		{"1 A b.\n2 Where is A?\tb c\t1\n", `f:2: the answer "b c"`},
		{"1 A b.\n2 Where is A?\tb\t2\n", `f:2: the supporting fact "2"`},
		{"1 A b.\n2 Where is A?\tb\t1\n3 C d.\n4 Where is C?\td\t2\n", `f:4: the supporting fact "2"`},
		{"1 A b.\n2 Where is A?\tb\t0\n", `f:2: the supporting fact "0"`},
		{"1 A b.\n2 Where is A?\tb\tx\n", `f:2: the supporting fact "x"`},
		{"1 A b.\n2 Where is A?\tb\t\n", "f:2: the question \"where is a ?\" names no supporting fact"},
		{"1 A b.\n1 C d.\n2 Where is C?\td\t1 3\n", `f:3: the supporting fact "3"`},
		{"1 .\n", "f:1: \".\" has no words"},
		{"1 A \xff.\n", "f:1: byte 5 is not text: get the file again, or convert it to UTF-8"},
		{"1 A \x00.\n", "f:1: byte 5 is not text: get the file again, or convert it to UTF-8"},
		{"1 A b.\n2 " + strings.Repeat("a", 1<<13), "f:2: the line is longer than 4096 bytes"},
	} {
		got, err := babi.Parse("f", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %+v, %v, want %q", c.text, got, err, c.want)
		}
	}
}

// A story typed by hand is the story of the file, however it is typed.
func TestStory(t *testing.T) {
	want := babi.Question{Facts: []string{"john moved to the bedroom .", "mary is in the bathroom ."}, Text: "where is mary ?"}
	for _, text := range []string{
		"John moved to the bedroom. Mary is in the bathroom. Where is Mary?",
		"john moved to the bedroom\nMary is in the bathroom.\n\nWhere is mary",
		"1 John moved to the bedroom.\n2 Mary is in the bathroom.\n3 Where is Mary? \tbathroom\t2\n",
		"  John  moved to the bedroom .Mary is in the bathroom. Where is Mary?  \r\n",
	} {
		if got, err := babi.Story(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                          "needs at least one fact",
		"Where is Mary?":            "needs at least one fact",
		"Where is Mary? She is in.": "is a question, but more follows",
		"Mary is in. John is out.":  "the last sentence is not a question",
		"Mary is in. ...\nWhere?":   "has no words",
	} {
		if q, err := babi.Story(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %+v, %v, want %q", text, q, err, want)
		}
	}
}

// What Parse accepts keeps what it promises: supports are facts, sentences survive being read again.
func FuzzParse(f *testing.F) {
	f.Add(story)
	f.Add(moves(1, 2))
	f.Add("1 A b.\n2 Where?\tb\t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		questions, err := babi.Parse("f", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q does not name the file, or is no line", err)
			}
			return
		}
		for _, q := range questions {
			for _, s := range q.Supports {
				if s < 0 || s >= len(q.Facts) {
					t.Errorf("support %d of %d facts", s, len(q.Facts))
				}
			}
			for _, s := range append(slices.Clone(q.Facts), q.Text) {
				if again, err := babi.Sentence(s, ""); err != nil || again != s {
					t.Errorf("%q is %q when read again, %v", s, again, err)
				}
			}
		}
	})
}

func FuzzStory(f *testing.F) {
	f.Add("John moved to the bedroom. Where is John?")
	f.Add("1 a.\n2 b?\tc\t1")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := babi.Story(text)
		if err == nil && (len(q.Facts) == 0 || !strings.HasSuffix(q.Text, " ?")) {
			t.Errorf("%q is %+v", text, q)
		}
	})
}
