package viewer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The page and the text of a story have its sentences as they were written, and the words that the model does not know. Where the sentences are not
// those that the model read, its own are shown. Caught when planted: the first sentences of a long story, unknown words left out.
func TestAsWritten(t *testing.T) {
	trace := story()
	trace.Source = []string{"mary went to the zoo .", "john 's dog sleeps .", "where is mary ?"}
	trace.Encoder = sample("abc", 3, 2).Encoder
	trace.Encoder.Tokens, trace.Unknown = trace.Source, []string{"zoo", "zoo", "sleeps"}
	written := []string{"Mary  went to the zoo.", "John's dog sleeps.", "Where is Mary?"}
	for input, want := range map[string][]string{
		strings.Join(written, " "):                                        {"Mary went to the zoo.", "John's dog sleeps.", "Where is Mary?"},
		"1 It rains.\n2 " + strings.Join(written, "\n3 ") + "\tgarden\t1": {"Mary went to the zoo.", "John's dog sleeps.", "Where is Mary?"},
		"Another story. Its second fact. Where is Mary?":                  trace.Source,
		"Where is Mary?": trace.Source,
		"":               trace.Source,
	} {
		trace.Input = input
		if got := trace.asWritten(); !slices.Equal(got.Source, want) || !slices.Equal(got.Encoder.Tokens, want) {
			t.Errorf("%q: %q, want %q", input, got.Source, want)
		}
	}
	trace.Input = strings.Join(written, " ")
	page := strings.Join(strings.Fields(shown(render(t, trace))), " ")
	var text bytes.Buffer
	if err := WriteText(&text, trace, 100, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Asked Where is Mary?, the model", "not knownzoo, sleeps", "storyMary went to the zoo. John's dog sleeps."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	for _, want := range []string{"asked     Mary went to the zoo. John's dog sleeps. Where is Mary?\n", "not known zoo, sleeps (read as <unknown>)\n", "  Where is Mary?"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	if trace.Source[0] != "mary went to the zoo ." || trace.Encoder.Tokens[0] != trace.Source[0] {
		t.Error("the trace was changed")
	}
}

// What was asked is the input itself where positions are pieces or bytes of its characters.
// Caught when planted: the bytes.
func TestAskedIsTheInput(t *testing.T) {
	for _, c := range []struct {
		input, want string
		tokens      []string
	}{
		{"漢 a man\x1b", "漢 a man␛", []string{`\xe6`, `\xbc`, `\xa2`, " a", " man", "\x1b"}},
		{"漢", "漢", []string{`\xe6`, `\xbc`, `\xa2`}},
		{"orange hat", "orange hat", []string{"or", "ange", " hat"}},
		{"", "a man", []string{"a", " man"}},
		{"ignored", "314", []string{"3", "1", "4"}},
	} {
		trace := Trace{Input: c.input, Source: c.tokens}
		if got := trace.asked().Text(); got != c.want {
			t.Errorf("%q: %q, want %q", c.input, got, c.want)
		}
	}
}

// The text names the exit.
func TestTextNamesTheExit(t *testing.T) {
	var text bytes.Buffer
	if err := WriteText(&text, withReadouts(), 100, false); err != nil {
		t.Fatal(err)
	}
	if want := "exit      confidence of at least 0.7\n"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in %s", want, text.String())
	}
}
