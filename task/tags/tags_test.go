package tags

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers is n sentences of a number in words, each with the tag of its digit: "B-" and the parity if the word before has another parity,
// and "I-" if not.
func numbers(n int) (list [][2][]string) {
	names := strings.Fields("zero one two three four five six seven eight nine")
	for i := range n {
		var words, tags []string
		before := -1
		for _, d := range fmt.Sprint(i) {
			odd := int(d-'0') % 2
			tag := []string{"B-", "I-"}[map[bool]int{true: 1}[odd == before]] + []string{"EVEN", "ODD"}[odd]
			words, tags, before = append(words, names[d-'0']), append(tags, tag), odd
		}
		list = append(list, [2][]string{words, tags})
	}
	return list
}

// rowsOf writes sentences with a word in each row.
func rowsOf(list [][2][]string, separator string) string {
	var b strings.Builder
	for _, s := range list {
		for i := range s[0] {
			b.WriteString(s[0][i] + separator + s[1][i] + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// table writes sentences with a sentence in each row.
func table(list [][2][]string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strings.Join(s[0], " ") + "\t" + strings.Join(s[1], " ") + "\n")
	}
	return b.String()
}

func open(t *testing.T, c Tags) *Task {
	t.Helper()
	opened, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*Task)
}

func TestConformance(t *testing.T) {
	path := write(t, "numbers.conll", rowsOf(numbers(2000), " "))
	for name, c := range map[string]Tags{"words": {Path: path, HeldOut: 0.3}, "affixes": {Path: path, Affixes: 2, MinCount: 2}} {
		t.Run(name, func(t *testing.T) {
			tasktest.RunTagging(t, open(t, c))
			tasktest.Files(t, c, open(t, c), false)
		})
	}
}

// The same sentences give the same examples in every form: rows of words with spaces, tabs, commas, in a compressed file and with other
// columns, and a table of sentences.
// Caught when planted: the tags of another sentence, a last sentence that is lost without a blank line at the end.
func TestForms(t *testing.T) {
	list := numbers(1000)
	rows := rowsOf(list, " ")
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = io.WriteString(w, rows)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	four := strings.NewReplacer(" B-", " X _ B-", " I-", " X _ I-").Replace(rows)
	for name, c := range map[string]Tags{
		"spaces":            {Path: write(t, "a", rows)},
		"no line at end":    {Path: write(t, "a", strings.TrimRight(rows, "\n"))},
		"blank lines, CRLF": {Path: write(t, "a", "\n \r\n"+strings.ReplaceAll(rows, "\n", "\r\n")+"\n\n")},
		"tabs":              {Path: write(t, "a.tsv", rowsOf(list, "\t"))},
		"csv, header":       {Path: write(t, "a.csv", "word,tag\n"+rowsOf(list, ","))},
		"csv, empty fields": {Path: write(t, "a.csv", strings.ReplaceAll(rowsOf(list, ","), "\n\n", "\n,\n"))},
		"gzip":              {Path: write(t, "a.gz", compressed.String())},
		"four columns":      {Path: write(t, "a", "-DOCSTART- -X- O O\n\n"+four)},
		"by number":         {Path: write(t, "a", four), WordColumn: "1", TagColumn: "4"},
		"by name":           {Path: write(t, "a.csv", "id,w,t\n"+numbered(list)), WordColumn: "w", TagColumn: "t"},
		"sentences":         {Path: write(t, "a.tsv", table(list))},
		"sentences, names":  {Path: write(t, "a.tsv", "tags\twords\n"+swapped(list))},
	} {
		tk := open(t, c)
		got := slices.Concat(tk.TrainingPart, tk.ValidationPart, tk.TestPart)
		seen := map[string]string{}
		for _, e := range got {
			source, target := tk.v.Text(e)
			if o, tags := e.Origin.(Origin).Text(); o != source || tags != target {
				t.Errorf("%s: %q %q was made from %q %q", name, source, target, o, tags)
			}
			seen[source] = target
		}
		for _, s := range list {
			if want := strings.Join(s[1], " "); seen[strings.Join(s[0], " ")] != want {
				t.Fatalf("%s: %q has the tags %q\n%s", name, s[0], seen[strings.Join(s[0], " ")], strings.Join(tk.Notes(), "\n"))
			}
		}
		if len(got) != len(list) || len(tk.TrainingPart) < 850 || len(tk.ValidationPart) < 20 || len(tk.TestPart) < 20 {
			t.Errorf("%s: %d, %d and %d sentences of %d", name, len(tk.TrainingPart), len(tk.ValidationPart), len(tk.TestPart), len(list))
		}
		if tags := tk.v.Target.Tokens(); !slices.Equal(tags, []string{"B-ODD", "B-EVEN", "I-ODD", "I-EVEN"}) {
			t.Errorf("%s: tags %q", name, tags)
		}
	}
}

// numbered writes rows of three columns.
func numbered(list [][2][]string) string {
	var b strings.Builder
	for _, s := range list {
		for i := range s[0] {
			fmt.Fprintf(&b, "%d,%s,%s\n", i, s[0][i], s[1][i])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// swapped writes sentences with the tags first.
func swapped(list [][2][]string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strings.Join(s[1], " ") + "\t" + strings.Join(s[0], " ") + "\n")
	}
	return b.String()
}

// A malformed row costs its sentence only, and is reported with its line and the field that raises a limit.
// Caught when planted: sentences with a gap, a limit that counts affixes.
func TestMalformed(t *testing.T) {
	content := "a O\nb O\n\nbad\nc O\n\nd O extra\n\ne <pad>\n\nf O\nf O\nf O\nf O\nf O\n\ng B-X\n\n"
	c := Tags{Path: "f", MaxLength: 4, Affixes: 3}
	list, report := sentencesOf(t, strings.NewReader(content), c)
	if len(list) != 2 || list[0].line != 1 || list[1].line != 17 || report.Lines != 6 || report.Skipped != 4 {
		t.Fatalf("%+v, %+v", list, report)
	}
	for i, want := range []string{"f:4: it has 1 field, not 2", "f:7: it has 3 fields, not 2", "f:9: the sentence has the reserved token <pad>", "f:11: the sentence has 5 words, more than task.max_length 4: raise it"} {
		if got := report.Malformed[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for content, want := range map[string]string{
		"a\tX\nb c\tX\n":         `the word "b c" has a space`,
		"a\tX\n\tX\n":            "the word is empty",
		"a\tX\nb\t\n":            "the tag is empty",
		"a b\tX Y\nc d\tX\n":     "2 words have 1 tags",
		"a b\tX Y\n\nc d\tX Y\n": "the line is empty",
		"a b\tX Y\n \tX Y\n":     "the sentence is empty",
	} {
		_, report := sentencesOf(t, strings.NewReader(content), Tags{Path: "f", MaxLength: 4})
		if len(report.Malformed) != 1 || !strings.Contains(report.Malformed[0].Reason, want) {
			t.Errorf("%q: %+v, want %q", content, report.Malformed, want)
		}
	}
}

// A row with a space in its tag, or in its word and its tag, costs its own sentence only; rows of one word among sentences in rows are
// sentences.
// Caught when planted: the form of a sentence in each row for a file with one such row; rows of one word that count without blank lines.
func TestFormOfRows(t *testing.T) {
	list := numbers(100)
	for name, c := range map[string]struct {
		content        string
		usable, broken int
		reason         string
	}{
		"a tag with a space":           {strings.Replace(rowsOf(list, "\t"), "one\tB-ODD\n", "one\tB ODD\n", 1), 99, 1, `the tag "B ODD" has a space: replace it`},
		"a word and a tag with spaces": {strings.Replace(rowsOf(list, "\t"), "one\tB-ODD\n", "New York\tB-LOC I-LOC\n", 1), 99, 1, `the word "New York" has a space`},
		"a tag too few":                {strings.Replace(table(list), "one zero\tB-ODD B-EVEN\n", "one zero\tB-ODD\n", 1), 99, 1, "2 words have 1 tags"},
		"mostly one word":              {table(slices.Concat(list[:10], list[:10], list[10:15])) + "\n", 25, 1, "the line is empty"},
	} {
		got, report := sentencesOf(t, strings.NewReader(c.content), Tags{Path: "f", MaxLength: 100})
		if len(got) != c.usable || report.Skipped != c.broken || report.Lines != c.usable+c.broken {
			t.Errorf("%s: %d sentences, %+v", name, len(got), report)
		}
		if c.reason != "" && (len(report.Malformed) != 1 || !strings.Contains(report.Malformed[0].Reason, c.reason)) {
			t.Errorf("%s: %+v, want %q", name, report.Malformed, c.reason)
		}
	}
}

// sentencesOf reads decompressed text.
func sentencesOf(t *testing.T, r io.Reader, c Tags) (list []sentence, report tabular.Report) {
	t.Helper()
	list, report, err := parse(r, c)
	if err != nil {
		t.Fatal(err)
	}
	return list, report
}

func parse(r io.Reader, c Tags) (list []sentence, report tabular.Report, err error) {
	report.Path = c.Path
	var rows []tabular.Row
	c.Layout.Format = tabular.Spaces
	_, err = c.Layout.Parse(textfile.NewReader(r, 1<<30), c.columns(), func(row tabular.Row) { rows = append(rows, row) })
	if err != nil {
		return nil, report, err
	}
	return c.sentences(rows, &report), report, nil
}

// FuzzParse: the way bytes arrive does not matter; every sentence has words, and as many tags, without spaces; lines increase; sentences
// are used or skipped. Only text that is not UTF-8 and a first row of one column are errors.
func FuzzParse(f *testing.F) {
	f.Add("a b\tc d\r\n\n\tx\ny\t\nz\tz")
	f.Add("# c\nEU NNP B-ORG\n-DOCSTART- -X- O\n\n# # O\n \nx\n\ufeffa b c\x00\n\xff")
	f.Fuzz(func(t *testing.T, content string) {
		c := Tags{Path: "f", MaxLength: 5}
		list, report, err := parse(strings.NewReader(content), c)
		again, slow, problem := parse(iotest.OneByteReader(strings.NewReader(content)), c)
		if fmt.Sprint(list, report, err) != fmt.Sprint(again, slow, problem) {
			t.Fatalf("read byte by byte: %v %+v %v, at once: %v %+v %v", again, slow, problem, list, report, err)
		}
		if err != nil {
			if utf8.ValidString(content) && !strings.Contains(err.Error(), "one column") {
				t.Fatalf("%q: %v", content, err)
			}
			return
		}
		if len(list) != report.Usable || report.Usable+report.Skipped != report.Lines {
			t.Fatalf("%+v for %d sentences", report, len(list))
		}
		last := 0
		for _, s := range list {
			words, tags := s.origin.Text()
			if n := len(s.origin.words); n == 0 || n > 5 || n != len(s.origin.tags) || len(strings.Fields(words)) != n || len(strings.Fields(tags)) != n || s.line <= last {
				t.Fatalf("%+v after line %d", s, last)
			}
			last = s.line
		}
	})
}

func TestRefused(t *testing.T) {
	good := write(t, "good", rowsOf(numbers(100), " "))
	for want, c := range map[string]Tags{
		"path is empty":         {},
		"affixes is 21":         {Path: good, Affixes: 21},
		"held_out is 1":         {Path: good, HeldOut: 1},
		"give only one of them": {Path: good, HeldOut: 0.2, HeldOutPath: good},
		"min_count is -1":       {Path: good, MinCount: -1},
		"max_length is -1":      {Path: good, MaxLength: -1},
		"no such file":          {Path: good + "x"},
		"format is":             {Path: good, Layout: tabular.Layout{Format: "xls"}},
		"but the columns are":   {Path: good, TagColumn: "ner"},
		"at least two tags are needed; left out as malformed: 1 of 101 sentences, first": {Path: write(t, "partly", strings.NewReplacer("B-EVEN", "O", "B-ODD", "O", "I-EVEN", "O", "I-ODD", "O").Replace(rowsOf(numbers(100), " "))+"\na\n")},
		"at least two tags":              {Path: write(t, "one", strings.NewReplacer("B-EVEN", "O", "B-ODD", "O", "I-EVEN", "O", "I-ODD", "O").Replace(rowsOf(numbers(100), " ")))},
		"each part needs some":           {Path: write(t, "few", rowsOf(numbers(2), " "))},
		"put blank lines between":        {Path: write(t, "whole", strings.ReplaceAll(rowsOf(numbers(500), " "), "\n\n", "\n"))},
		"none of 1 sentences can":        {Path: write(t, "none", "a b\nc\n")},
		"is empty: it must have":         {Path: write(t, "empty", "\n\n")},
		"iconv -f WINDOWS-1252":          {Path: write(t, "latin", "caf\xe9 O\n")},
		"the first row has one column":   {Path: write(t, "column", "a\nb\n")},
		"sentences are malformed, more ": {Path: write(t, "bad", "a\tX\n\nb c\tX\n\nb c\tX\n")},
	} {
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// Words are read with their affixes and shape, which are known of unknown words; a file to evaluate on may have unknown tags; tags of a
// file for evaluation only are known.
func TestReader(t *testing.T) {
	held := write(t, "held", "zero B-NEW\ntwone B-ODD\n")
	c := Tags{Path: write(t, "a", rowsOf(numbers(1000), " ")), Affixes: 2, HeldOutPath: held}
	tk := open(t, c)
	notes := strings.Join(tk.Notes(), "\n")
	for _, want := range []string{"1000 sentences, 1000 usable, 0 malformed", "5 tags, they mark spans", `1 tag occurs in held-out sentences only, and cannot be learned: ["B-NEW"]`, `held-out sentences have 1 unknown token, among them ["twone"]`} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not have %q:\n%s", want, notes)
		}
	}
	in, err := c.Reader(tk.v).Read(" three  twone ")
	unknown, _ := tk.v.Source.Unknown()
	var got []string
	for _, id := range in.Source {
		got = append(got, tk.v.Source.Token(id))
	}
	if want := "[three first=th last=ee shape=x <unknown> first=tw last=ne shape=x]"; err != nil || fmt.Sprint(got) != want || !slices.Equal(in.Labels, []string{"three", "twone"}) || !slices.Equal(in.Unknown, []string{"twone"}) || in.Source[4] != unknown {
		t.Errorf("%q, %+v, %v", got, in, err)
	}
	if _, err := c.Reader(tk.v).Read(" \t"); err == nil {
		t.Error("an empty sentence is read")
	}
	examples, lines, err := c.Reader(tk.v).File(write(t, "other", "one B-ODD\nten B-TEN\n"))
	if err != nil || len(examples) != 1 || len(examples[0].Source) != 8 || examples[0].Target[1] != vocab.End || !strings.Contains(strings.Join(lines, "\n"), `1 word has a tag that the model does not know, among them ["B-TEN"]`) {
		t.Errorf("%+v, %q, %v", examples, lines, err)
	}
	if ids, err := c.Reader(tk.v).Target("B-ODD  I-ODD"); err != nil || len(ids) != 2 {
		t.Errorf("%v, %v", ids, err)
	}
}

func TestShape(t *testing.T) {
	for word, want := range map[string]string{"Bonn": "Xx", "A4-Blatt": "X0-Xx", "1,250.00": "0,0.0", "東京": "x", "Éa": "Xx", "--": "-", "٣x": "0x"} {
		if got := shape(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := (Tags{Affixes: 3}).parts("Él"); fmt.Sprint(got) != "[Él first=Él last=Él shape=Xx]" {
		t.Errorf("%q", got)
	}
}

// answers is a model with given tags.
type answers struct {
	task.Model
	v    *vocab.Vocabulary
	tags []string
}

func (a answers) Tag(context.Context, []task.Example) (list []task.Tagged, err error) {
	for _, line := range a.tags {
		ids, err := a.v.Encode(strings.Fields(line))
		if err != nil {
			return nil, err
		}
		list = append(list, task.Tagged{Tags: ids})
	}
	return list, nil
}

func examplesOf(tags []string, v *vocab.Vocabulary) (examples []task.Example) {
	for _, line := range tags {
		e := task.Example{Origin: Origin{strings.Fields(line), strings.Fields(line)}}
		for _, tag := range strings.Fields(line) {
			id, known := v.ID(tag)
			if !known {
				id = vocab.End
			}
			e.Target = append(e.Target, id)
		}
		examples = append(examples, e)
	}
	return examples
}

// The figures are those of seqeval 1.2.2 and scikit-learn 1.9.1 for the same answers, one of them on an unknown tag:
//
//	t = [s.split() for s in ("B-A I-A O B-B", "O B-A I-B O", "B-C O")]; p = [s.split() for s in ("B-A I-A O B-A", "I-A B-A I-B O", "I-B O")]
//	seqeval.metrics.precision_score(t, p), recall_score(t, p), f1_score(t, p), accuracy_score(t, p)
//	sklearn.metrics.f1_score(sum(t, []), sum(p, []), average="macro")
func TestMeasure(t *testing.T) {
	v, err := vocab.New(strings.Fields("O B-A I-A B-B I-B"))
	if err != nil {
		t.Fatal(err)
	}
	truth := []string{"B-A I-A O B-B", "O B-A I-B O", "B-C O"}
	m, err := Tags{}.Measure(task.Vocabularies{Target: v}).Measure(t.Context(), answers{v: v, tags: []string{"B-A I-A O B-A", "I-A B-A I-B O", "I-B O"}}, examplesOf(truth, v))
	got := map[string]float64{}
	for _, metric := range m.Metrics {
		got[metric.Name] = metric.Value
	}
	want := map[string]float64{"span precision": 0.5, "span recall": 0.6, "span F1": 6.0 / 11, "token accuracy": 0.7}
	for name, value := range want {
		if math.Abs(got[name]-value) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if err != nil || len(m.Metrics) != 4 || len(m.Spans) != 3 || m.Answers[0].Text != "B-A I-A O B-A" || m.Answers[0].Correct || !strings.Contains(strings.Join(m.Notes, "\n"), "1 of 10 words have a tag that the model does not know") {
		t.Errorf("%+v, %v", m, err)
	}
	v, err = vocab.New(strings.Fields("NOUN VERB X"))
	if err != nil {
		t.Fatal(err)
	}
	m, err = Tags{}.Measure(task.Vocabularies{Target: v}).Measure(t.Context(), answers{v: v, tags: []string{"NOUN NOUN", "X VERB"}}, examplesOf([]string{"NOUN VERB", "X VERB"}, v))
	if err != nil || len(m.Metrics) != 2 || m.Metrics[0].Value != 0.75 || math.Abs(m.Metrics[1].Value-7.0/9) > 1e-9 || m.Spans != nil || !m.Answers[1].Correct {
		t.Errorf("tags without spans: %+v, %v", m, err)
	}
}

// A file to evaluate on is compared with the training part, as long as that can be read.
// Caught when planted: the whole file for the training part; a note without the file.
func TestFileOfTrainingSentences(t *testing.T) {
	path := write(t, "own", rowsOf(numbers(100), " "))
	c := Tags{Path: path}
	tk := open(t, c)
	other := write(t, "other", rowsOf(numbers(100), " ")+"\nnew O\n")
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		_, notes, err := c.Reader(tk.v).File(other)
		want := fmt.Sprintf("%d of 101 sentences are also in the training part", len(tk.TrainingPart))
		if err != nil || slices.Contains(notes, want) == gone || len(tk.TrainingPart) >= 100 || gone && strings.Contains(strings.Join(notes, ""), "training part") {
			t.Errorf("without the file: %v: %q, %v, want %q", gone, notes, err, want)
		}
	}
}

// A file to evaluate on may have sentences as long as those of training, or of 10,000 words if those are shorter.
// Caught when planted: only 10,000 words; only the words of training.
func TestLongestOfAFile(t *testing.T) {
	path := write(t, "a", rowsOf(numbers(100), " "))
	for _, c := range []struct{ trained, words, want int }{{0, 10_000, 1}, {0, 10_001, 0}, {10_001, 10_001, 1}, {10_001, 10_002, 0}} {
		tagged := Tags{Path: path, MaxLength: c.trained}
		content := "one B-ODD\n\n" + strings.Repeat("one B-ODD\n", c.words)
		examples, notes, err := tagged.Reader(open(t, tagged).v).File(write(t, "other", content))
		if err != nil || len(examples) != 1+c.want {
			t.Errorf("%+v: %d sentences, %q, %v", c, len(examples), notes, err)
		}
	}
}
