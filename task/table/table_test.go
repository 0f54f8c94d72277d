package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// write makes a file of the given content.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers is n lines "one two TAB 12" of the digits of 0..n-1.
func numbers(n int) string {
	words := strings.Fields("zero one two three four five six seven eight nine")
	var b strings.Builder
	for i := range n {
		digits := fmt.Sprint(i)
		for k, d := range digits {
			if k > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[d-'0'])
		}
		b.WriteString("\t" + strings.Join(strings.Split(digits, ""), " ") + "\n")
	}
	return b.String()
}

func open(t *testing.T, c Table) (*Task, *Report) {
	t.Helper()
	tk, report, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return tk, report
}

func TestConformance(t *testing.T) {
	path := write(t, numbers(2000))
	for name, c := range map[string]Table{
		"characters": {Path: path},
		"words":      {Path: path, Tokenizer: vocab.Whitespace, HeldOut: 0.3},
		"shared":     {Path: path, SharedVocabulary: true},
	} {
		tk, _ := open(t, c)
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, tk)
			tasktest.Files(t, c, tk, false)
		})
	}
}

func TestPairs(t *testing.T) {
	path := write(t, "\ufeffa b\tc\r\nö\td e") // a byte order mark, CRLF, and no newline at the end
	held := write(t, "b\tc z\nq a q\td\na b\tc\n")
	tk, report := open(t, Table{Path: path, HeldOutPath: held})
	sources, targets := tk.Vocabularies().Source, tk.Vocabularies().Target
	if got := strings.Join(sources.Tokens(), "|"); got != " |a|b|ö" {
		t.Errorf("source tokens %q", got)
	}
	if got := strings.Join(targets.Tokens(), "|"); got != " |c|d|e" {
		t.Errorf("target tokens %q", got)
	}
	lines := map[string]bool{}
	for i := range int64(2) {
		e := tk.Training(1, i)
		lines[strings.Join(sources.Decode(e.Source), "")+"\t"+strings.Join(targets.Decode(e.Target), "")] = true
	}
	if !lines["a b\tc"] || !lines["ö\td e"] {
		t.Errorf("training has %v", lines)
	}
	if source, target := tk.MaxLengths(); source != 3 || target != 4 {
		t.Errorf("longest are %d and %d, want 3 and 4", source, target)
	}
	examples, err := tk.HeldOut(1, task.Selection{})
	if err != nil || len(examples) != 3 {
		t.Fatalf("%d held out, %v", len(examples), err)
	}
	if got := strings.Join(sources.Decode(examples[1].Source), ""); got != "<unknown> a <unknown>" {
		t.Errorf("unknown tokens: %q", got)
	}
	if report.Source.Count != 2 || !slices.Equal(report.Source.Tokens, []string{"q"}) {
		t.Errorf("unknown sources reported: %+v", report.Source)
	}
	if report.Target.Count != 1 || !slices.Equal(report.Target.Tokens, []string{"z"}) {
		t.Errorf("unknown targets reported: %+v", report.Target)
	}
	if report.Training != 2 || report.HeldOut != 3 || report.Repeated != 1 {
		t.Errorf("report: %+v", report)
	}
}

// Lines that ask for two answers to one question are counted, and said; the same pair twice is none.
// Caught when planted: equal pairs counted, the first of several left out.
func TestAmbiguousSources(t *testing.T) {
	content := numbers(200) + "7 7\tx\n7 7\ty\n7 7\tx\n8 8\tz\n8 8\tz\n9 9\tu\n9 9\tv\n"
	_, report := open(t, Table{Path: write(t, content), Tokenizer: vocab.Whitespace})
	if report.Ambiguous != 5 {
		t.Errorf("%d lines are ambiguous, want 5", report.Ambiguous)
	}
	if text := report.String(); !strings.Contains(text, "5 examples have a source that also occurs with another target") {
		t.Errorf("%s", text)
	}
	if _, plain := open(t, Table{Path: write(t, numbers(200))}); plain.Ambiguous != 0 || strings.Contains(plain.String(), "another target") {
		t.Errorf("%+v", plain)
	}
}

// The held-out sources are a property of the sources alone: the same in any order, among any others, and never
// trained on.
func TestSplit(t *testing.T) {
	content := numbers(1000)
	content += strings.ReplaceAll(content, "\n", " 0\n") // every source twice, with two targets
	tk, report := open(t, Table{Path: write(t, content), Tokenizer: vocab.Whitespace})
	if report.Training+report.Validation+report.HeldOut != 2000 || report.HeldOut%2 != 0 || report.Validation%2 != 0 || report.Repeated != 0 {
		t.Errorf("equal sources are on both sides: %+v", report)
	}
	for _, lines := range []int{report.Validation, report.HeldOut} {
		if share := float64(lines) / 2000; share < 0.015 || share > 0.085 { // 0.05 with deviation 0.0069
			t.Errorf("%v of the lines are held out, want about 0.05 to choose by and 0.05 to evaluate", share)
		}
	}
	for source := range heldSources(t, tk, true) {
		if heldSources(t, tk, false)[source] {
			t.Errorf("%q chooses the checkpoint and evaluates it", source)
		}
	}
	lines := strings.SplitAfter(numbers(1000), "\n")
	slices.Reverse(lines)
	other, _ := open(t, Table{Path: write(t, strings.Join(lines, "")+numbers(1500)), Tokenizer: vocab.Whitespace})
	for _, validation := range []bool{true, false} {
		in := heldSources(t, other, validation)
		for source := range heldSources(t, tk, validation) {
			if !in[source] {
				t.Errorf("%q is held out of one file and has another use in the other", source)
			}
		}
	}
}

func heldSources(t *testing.T, tk *Task, validation bool) map[string]bool {
	t.Helper()
	held, err := tk.HeldOut(1, task.Selection{Validation: validation})
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]bool{}
	for _, e := range held {
		sources[strings.Join(tk.Vocabularies().Source.Decode(e.Source), " ")] = true
	}
	return sources
}

func TestHeldOutCountIsAPickBySeed(t *testing.T) {
	tk, _ := open(t, Table{Path: write(t, numbers(1000)), Tokenizer: vocab.Whitespace})
	pick := func(seed uint64) string {
		held, err := tk.HeldOut(seed, task.Selection{Count: 10})
		if err != nil || len(held) != 10 {
			t.Fatalf("%d, %v", len(held), err)
		}
		return fmt.Sprint(held)
	}
	if pick(1) == pick(2) {
		t.Error("seeds 1 and 2 pick the same ten")
	}
	if held, err := tk.HeldOut(1, task.Selection{Count: task.MaxExamples}); err != nil || len(held) == 0 {
		t.Errorf("more than there are: %d, %v", len(held), err)
	}
}

func TestEpochs(t *testing.T) {
	tk, report := open(t, Table{Path: write(t, numbers(300)), Tokenizer: vocab.Whitespace})
	epoch := func(k int) (order []string) {
		for i := range report.Training {
			order = append(order, fmt.Sprint(tk.Training(1, int64(k*report.Training+i)).Source))
		}
		return order
	}
	first, second := epoch(0), epoch(1)
	if slices.Equal(first, second) {
		t.Error("two epochs have the same order")
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) || len(slices.Compact(first)) != report.Training {
		t.Error("an epoch does not have every example once")
	}
}

func TestMinCount(t *testing.T) {
	held := write(t, "a\tx\n")
	tk, _ := open(t, Table{Path: write(t, "aab\txyz\nac\tx\n"), HeldOutPath: held, MinCount: 2})
	if got := tk.Vocabularies().Source.Tokens(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("source tokens %q, want only a", got)
	}
	if got := tk.Vocabularies().Target.Tokens(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("target tokens %q, want only x", got)
	}
	shared, _ := open(t, Table{Path: write(t, "ab\tbc\n"), HeldOutPath: held, MinCount: 2, SharedVocabulary: true})
	if got := shared.Vocabularies().Source.Tokens(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("shared tokens %q, want only b, which both sides have", got)
	}
}

// Pairs of a CSV file, by the names of its columns, are those of the same pairs in a TSV file; a file of another form can be evaluated on.
// Caught when planted: columns in the order of the file, a header that is a pair.
func TestColumns(t *testing.T) {
	var plain, csv strings.Builder
	csv.WriteString("id,answer,question\r\n")
	for i := range 200 {
		fmt.Fprintf(&plain, "what is %d, \"please\"\t%d\n", i, i+1)
		fmt.Fprintf(&csv, "%d,%d,\"what is %d, \"\"please\"\"\"\r\n", i, i+1, i)
	}
	path := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	other := write(t, plain.String())
	want, _ := open(t, Table{Path: other})
	named := Table{Path: path, SourceColumn: "question", TargetColumn: "answer"}
	got, report := open(t, named)
	if !got.Vocabularies().Equal(want.Vocabularies()) || report.Files[0].Usable != 200 || !strings.Contains(report.String(), `source is column "question"`) {
		t.Fatalf("%s", report)
	}
	for i := range int64(200) {
		if a, b := got.Training(1, i), want.Training(1, i); !slices.Equal(a.Source, b.Source) || !slices.Equal(a.Target, b.Target) {
			t.Fatalf("example %d is %v, not %v", i, a, b)
		}
	}
	for _, file := range []string{path, other} {
		examples, notes, err := named.Reader(got.Vocabularies()).File(file)
		if err != nil || len(examples) != 200 || len(examples[7].Target) != 2 {
			t.Errorf("%s: %d examples, %q, %v", file, len(examples), notes, err)
		}
	}
	for want, c := range map[string]Table{"delimiter is": {Path: path, Layout: tabular.Layout{Delimiter: ",,"}}, "counted from 1": {Path: path, SourceColumn: "-1"}} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Two rows and a file for evaluation leave nothing to choose a checkpoint by.
func TestNothingForValidation(t *testing.T) {
	tk, _ := open(t, Table{Path: write(t, "a\tb\nc\td\n"), HeldOutPath: write(t, "a\tb\n")})
	if _, err := tk.HeldOut(1, task.Selection{Validation: true, Count: 5}); err == nil || !strings.Contains(err.Error(), "of 2 rows, none is for choosing a checkpoint: add rows") {
		t.Error(err)
	}
}

// A line of a file to evaluate on that no model could answer is skipped and counted.
func TestLongLinesOfAFileToEvaluateOn(t *testing.T) {
	tk, _ := open(t, Table{Path: write(t, numbers(200))})
	examples, notes, err := Reader(tk.Vocabularies())(write(t, "one\t1\n"+strings.Repeat("x", 70_000)+"\t1\ntwo\t2\n"))
	if err != nil || len(examples) != 2 || !strings.Contains(strings.Join(notes, "\n"), "70000 tokens, more than 10000") {
		t.Errorf("%d examples, %q, %v", len(examples), notes, err)
	}
}

// A file to evaluate on is compared with the training part, as long as that can be read.
// Caught when planted: the whole file for the training part; a note without the file.
func TestFileOfTrainingSources(t *testing.T) {
	path := write(t, numbers(300))
	c := Table{Path: path}
	tk, _ := open(t, c)
	other := write(t, numbers(300)+"nine nine nine\t9 9 9\n")
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		_, notes, err := c.Reader(tk.Vocabularies()).File(other)
		want := fmt.Sprintf("%d of 301 sources are also in the training part", len(tk.TrainingPart))
		if err != nil || slices.Contains(notes, want) == gone || len(tk.TrainingPart) >= 300 || gone && strings.Contains(strings.Join(notes, ""), "training part") {
			t.Errorf("without the file: %v: %q, %v, want %q", gone, notes, err, want)
		}
	}
}
