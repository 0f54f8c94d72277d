package agreement

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// The rule of regular verbs, and back. The examples are those of grammars, by ending.
// Caught when planted: "es" lost everywhere, "ys" for "ies".
func TestCounterparts(t *testing.T) {
	for one, many := range map[string]string{
		"is": "are", "has": "have", "does": "do", "goes": "go", "tries": "try", "carries": "carry", "passes": "pass", "washes": "wash", "reaches": "reach",
		"fixes": "fix", "was": "were", "lies": "lie", "underlies": "underlie", "relies": "rely", "buzzes": "buzz", "echoes": "echo", "uses": "use", "keeps": "keep", "says": "say", "makes": "make", "sees": "see", "includes": "include",
	} {
		if got, ok := pluralOf(one); got != many || !ok {
			t.Errorf("pluralOf(%q) is %q, want %q", one, got, many)
		}
		if got := singularOf(many); got != one {
			t.Errorf("singularOf(%q) is %q, want %q", many, got, one)
		}
	}
	for _, none := range []string{"", "s", "keep", "are"} {
		if got, ok := pluralOf(none); ok {
			t.Errorf("pluralOf(%q) is %q", none, got)
		}
	}
}

// Lines that are not of the format are refused with file and line.
// Caught when planted: a tag that is not looked at, a reserved word that is let through, a line number from 0.
func TestRefusesNumpred(t *testing.T) {
	for content, want := range map[string]string{
		"":                                "f:1: the file is empty",
		"VBZ\ta girl\nVBZ a girl\n":       "f:2: want a tag, one tab",
		"VBZ\ta\tgirl":                    `f:1: attractors are "girl"`,
		"VBZ\ta girl\t1\t2":               "f:1: want a tag, one tab",
		"VBZ\ta girl\n\nVBP\tx":           "f:2: want a tag",
		"VBD\ta girl":                     `f:1: the tag is "VBD"`,
		"VBP\t ":                          "f:1: there are no words",
		"VBP\ta <end> b":                  "f:1: the reserved token <end>",
		"VBP\ta\nVBP\t\xff":               "f:2: not valid UTF-8",
		strings.Repeat("x", 1<<20+1):      "f:1: the line is longer than 1048576 bytes",
		"\xff\xfeV\x00":                   "f: it is UTF-16",
		"VBP\tgirls\r\nVBZ\t\r\nVBZ\tx\n": "f:2: there are no words",
	} {
		if _, err := parseNumpred("f", strings.NewReader(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
}

// Fields are found by name; quotes around a field are those of CSV, others are text, and one field's do not swallow the next line; a
// compressed table is the same; what is left out is counted by its reason.
// Caught when planted: a fixed column, an index from 0, sentences of 51 tokens, verbs that are tags, a CSV reader.
func TestDependencies(t *testing.T) {
	table := "verb_index\tverb\tverb_pos\tn_intervening\tsentence\tn_diff_intervening\n" +
		"4\tare\tVBP\t1\t\"keys \"\"to\"\" doors are lost\"\t0\n" +
		"2\ttries\tVBZ\t0\tsomeone tries .\t0\n" +
		"3\tare\tVBP\t0\tkeys \" are 3 \" long\t0\n\n" +
		"2\tlies\tVBZ\t0\t\" lies\t0\n" +
		"2\tzigs\tVBZ\t0\tsomeone VBZ .\t0\n" +
		"2\truns\tVBZ\t0\tsomeone walks .\t0\n" +
		"2\truns\tVBZ\t0\tsomeone runs" + strings.Repeat(" far", 49) + "\t0\n"
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = io.WriteString(w, table)
	_ = w.Close()
	var x bytes.Buffer
	squeezed, err := xz.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(squeezed, table)
	_ = squeezed.Close()
	for name, content := range map[string]string{"plain": table, "gzip": z.String(), "xz": x.String(), "with a mark": "\ufeff" + table} {
		d, err := parseDependencies("f", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		want := []row{
			{text: `keys "to" doors are lost`, verb: 3, other: "is", plural: true, attractors: unlabelled, between: 1},
			{text: "someone tries .", verb: 1, other: "try"},
			{text: `keys " are 3 " long`, verb: 2, other: "is", plural: true},
			{text: `" lies`, verb: 1, other: "lie"},
		}
		if !slices.Equal(d.rows, want) || d.replaced != 1 || d.misplaced != 1 || d.long != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	good := head + dependency("a b", "b", "VBP", 2, 0, 0)
	for content, want := range map[string]string{
		"":                 "f:1: the file is empty",
		"sentence\tverb\n": "f:1: the header has no field verb_pos",
		good + "x\ty\n":    "f:3: 2 fields: the header has 8",
		good + dependency("a b", "b", "VBD", 2, 0, 0):     `f:3: verb_pos is "VBD"`,
		good + dependency("a b", "b", "VBP", 3, 0, 0):     "f:3: verb_index is 3",
		good + dependency("a b", "b", "VBP", 1, 0, 0):     "f:3: verb_index is 1",
		good + dependency("a b", "b", "VBP", 2, 1, 2):     "f:3: n_diff_intervening is 2",
		good + dependency("a b", "b", "VBP", 2, 1, -1):    `f:3: n_diff_intervening is "-1"`,
		good + dependency("a <pad>", "b", "VBP", 2, 0, 0): "f:3: the reserved token <pad>",
		good + dependency("a \xff", "b", "VBP", 2, 0, 0):  "f:3: not valid UTF-8",
		"\x1f\x8bxx":           "f: the compressed file is cut short",
		z.String()[:z.Len()-9]: "f: the compressed file is cut short",
		"\xff\xfes\x00":        "f: it is UTF-16",
	} {
		if _, err := parseDependencies("f", strings.NewReader(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", content, err, want)
		}
	}
}

// Verbs are found in their sentences, capitals or not; pairs of no verb are kept apart; files that do not fit are refused.
// Caught when planted: a place from 1, "wherein" as a pair.
func TestGold(t *testing.T) {
	sentences := [][]string{{"keys", "Are", "lost"}, {"it", "tries"}, {"a", "wherein"}}
	rows, err := parseGold("g", strings.NewReader("1\tare\tIs\t2\n1\ttries\ttry\t0\n1\twherein\twherein\t3\n"), sentences)
	want := []row{{text: "keys are lost", verb: 1, other: "is", plural: true, attractors: 2}, {text: "it tries", verb: 1, other: "try"}, {text: "a wherein", verb: 1, attractors: 3}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%+v, %v", rows, err)
	}
	for content, want := range map[string]string{
		"1\tare\tis\t2\n":                    "g:2: lines of 2 sentences are missing",
		"0\tare\tis\t2\n":                    `g:1: the right form is "are", but word 0 of the sentence is "keys"`,
		"3\tare\tis\t2\n":                    `g:1: the verb's place is "3"`,
		"1\tare\tis\n":                       "g:1: 3 fields",
		"1\tare\tis\tx\n":                    `g:1: attractors are "x"`,
		strings.Repeat("1\tare\tis\t2\n", 2): `g:2: the right form is "are"`,
		"1\tare\tis\t2\n1\ttries\ttry\t0\n1\twherein\tx\t3\n1\ta\tb\t1\n": "g:4: there are only 3",
	} {
		if _, err := parseGold("g", strings.NewReader(content), sentences); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// checkRows holds what was read to what it must be.
func checkRows(t *testing.T, rows []row, err error) {
	t.Helper()
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error %q does not name the file, or is no line", err)
		}
		return
	}
	for _, r := range rows {
		words := r.words()
		if r.verb < 0 || r.verb >= len(words) || slices.Contains(words, "") || r.text != strings.Join(strings.Fields(r.text), " ") || r.other == words[r.verb] {
			t.Errorf("%+v", r)
		}
		_ = r.lastWord()
	}
}

func FuzzNumpred(f *testing.F) {
	f.Add("VBZ\ta girl\nVBP\tthe keys to NNP\r\n")
	f.Add("VBP\t")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseNumpred("f", strings.NewReader(text))
		checkRows(t, rows, err)
	})
}

func FuzzDependencies(f *testing.F) {
	f.Add(head + dependency("keys are lost", "are", "VBP", 2, 0, 0))
	f.Add(head + "\"a\nb\"\tc\n")
	f.Add("\x1f\x8b")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDependencies("f", strings.NewReader(text))
		checkRows(t, d.rows, err)
	})
}

func FuzzPairs(f *testing.F) {
	f.Add("keys are lost . <eos>\n", "1\tare\tis\t0\n")
	f.Add("a\n\nb <eos>", "0\ta\ta\t0\n0\tb\tbs\t1")
	f.Fuzz(func(t *testing.T, text, gold string) {
		sentences, err := parseSentences("f", strings.NewReader(text))
		if err != nil {
			checkRows(t, nil, err)
			return
		}
		rows, err := parseGold("f", strings.NewReader(gold), sentences)
		checkRows(t, rows, err)
	})
}
