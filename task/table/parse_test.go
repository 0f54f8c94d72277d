package table

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

func TestMalformedLinesAreReportedWithFileAndLine(t *testing.T) {
	bad := []string{"no tab", "two\ttabs\there", "\tx", "y\t", "", "a\x00b\tc", strings.Repeat("a", 31) + "\tb", "<pad>\tb"}
	reasons := []string{"no tab", "more than one tab", "source is empty", "target is empty", "line is empty", "NUL", "31 tokens, more than task.max_length 30", ""}
	content := "a\tb\n" + strings.Join(bad, "\n") + "\n" + strings.Repeat("a\tb\n", 11) + strings.Repeat("a", 30) + "\tb\n"
	path := write(t, content)
	held := write(t, "a\tb\n")
	tk, report := open(t, Table{Path: path, HeldOutPath: held, MaxLength: 30})
	file := report.Files[0]
	if file.Lines != 21 || file.Usable != 14 || file.Skipped != 7 || report.Training != 14 {
		t.Errorf("%+v", file)
	}
	for i, m := range file.Malformed {
		if want := fmt.Sprintf("%s:%d: ", path, i+2); !strings.HasPrefix(m.String(), want) || !strings.Contains(m.Reason, reasons[i]) {
			t.Errorf("%q is reported as %s, want %s...%s", bad[i], m, want, reasons[i])
		}
		if !strings.Contains(report.String(), "\n  "+m.String()+"\n") {
			t.Errorf("the report does not have %s:\n%s", m, report)
		}
	}
	if id, ok := tk.Vocabularies().Source.ID("<"); !ok || id < 2 {
		t.Error("as characters, <pad> is five tokens like any others")
	}
	if _, err := (Table{Tokenizer: vocab.Whitespace, MaxLength: 9}).pair(1, []string{"b <pad>", "b"}); err == nil || !strings.Contains(err.Error(), "reserved token <pad>") {
		t.Errorf("<pad> as a word: %v", err)
	}
}

func TestReportListsTenAndCountsAll(t *testing.T) {
	path := write(t, strings.Repeat("a\tb\n", 40)+strings.Repeat("x\n", 25))
	_, report := open(t, Table{Path: path, HeldOutPath: write(t, "a\tb")})
	if f := report.Files[0]; len(f.Malformed) != 10 || f.Skipped != 25 || !strings.Contains(report.String(), "and 15 more") {
		t.Errorf("%d listed of %d:\n%s", len(f.Malformed), f.Skipped, report)
	}
}

func TestOpenRefuses(t *testing.T) {
	good := write(t, numbers(100))
	for name, c := range map[string]struct {
		table Table
		want  string
	}{
		"no path":                        {Table{}, "path is empty"},
		"share below 0":                  {Table{Path: good, HeldOut: -0.1}, "held_out is -0.1"},
		"share of 1":                     {Table{Path: good, HeldOut: 1}, "held_out is 1"},
		"both":                           {Table{Path: good, HeldOut: 0.2, HeldOutPath: good}, "give only one of them"},
		"negative count":                 {Table{Path: good, MinCount: -1}, "min_count is -1"},
		"negative length":                {Table{Path: good, MaxLength: -1}, "max_length is -1"},
		"tokens":                         {Table{Path: good, Tokenizer: 9}, "tokenizer is 9"},
		"missing file":                   {Table{Path: good + "x"}, "no such file"},
		"missing held":                   {Table{Path: good, HeldOutPath: good + "x"}, "no such file"},
		"empty":                          {Table{Path: write(t, "")}, "is empty"},
		"only a mark":                    {Table{Path: write(t, "\ufeff")}, "is empty"},
		"empty held":                     {Table{Path: good, HeldOutPath: write(t, "")}, "is empty"},
		"none usable":                    {Table{Path: write(t, "a\nb\n")}, "none of 2 lines can be used"},
		"most malformed":                 {Table{Path: write(t, "a\tb\nx\ny\n")}, "2 of 3 lines are malformed"},
		"too few, as most are malformed": {Table{Path: write(t, "a\tb\nc\nd\te\nf\n")}, "raise task.held_out or name a task.held_out_path; left out as malformed: 2 of 4 lines, first"},
		"too few":                        {Table{Path: write(t, "a\tb\n")}, "1 line for training, 0 for choosing a checkpoint and 0 for evaluation, at task.held_out 0.1: each part needs some, and identical ones go to the same part; add lines, raise task.held_out"},
		"a directory":                    {Table{Path: t.TempDir()}, "is a folder"},
	} {
		_, _, err := Open(c.table)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, _, err := Open(Table{Path: write(t, "a\tb\nc\td\nx\ny\n"), HeldOutPath: good}); err != nil {
		t.Errorf("half malformed is not more than half: %v", err)
	}
}

func TestLongLinesAreSkippedNotHeld(t *testing.T) {
	long := strings.Repeat("x", tabular.MaxLine-1)
	content := "a\tb\n" + long + "xx\n" + "c\td\n" + long + "\tz"
	pairs, report, err := parse(strings.NewReader(content), Table{Path: "f", MaxLength: 10})
	if err != nil || len(pairs) != 2 || report.Lines != 4 || report.Skipped != 2 {
		t.Fatalf("%d pairs, %v, %d lines, %d skipped", len(pairs), err, report.Lines, report.Skipped)
	}
	for i, line := range []int{2, 4} {
		if m := report.Malformed[i]; m.Line != line || !strings.Contains(m.Reason, "bytes") {
			t.Errorf("malformed %d is %+v, want line %d", i, m, line)
		}
	}
}

func TestReadErrorsSurface(t *testing.T) {
	broken := errors.New("broken disk")
	_, _, err := parse(io.MultiReader(strings.NewReader("a\tb\nc"), iotest.ErrReader(broken)), Table{Path: "f", MaxLength: 10})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// parse reads pairs from decompressed text.
func parse(r io.Reader, c Table) (pairs []pair, report tabular.Report, err error) {
	_, err = c.Layout.Parse(textfile.NewReader(r, 1<<30), c.columns(), func(row tabular.Row) { pairs = tabular.Add(&report, pairs, row, c.pair) })
	return pairs, report, err
}

// FuzzParse: every line is either used or skipped, the way bytes arrive does not matter, and what is used is
// two non-empty sides that, put together again, are lines of the file. Only text that is not UTF-8 is an error.
func FuzzParse(f *testing.F) {
	f.Add("a b\tc\r\n\n\tx\ny\t\nz\tz", true)
	f.Add("\ufeffa\tb\x00\n\xff\tb", false)
	f.Fuzz(func(t *testing.T, content string, words bool) {
		c := Table{Path: "f", Layout: tabular.Layout{Header: tabular.No}}.resolved()
		if words {
			c.Tokenizer = vocab.Whitespace
		}
		pairs, report, err := parse(strings.NewReader(content), c)
		if err != nil && utf8.ValidString(content) || err == nil && !utf8.ValidString(content) {
			t.Fatalf("%q: %v", content, err)
		} else if err != nil {
			return
		}
		again, slow, err := parse(iotest.OneByteReader(strings.NewReader(content)), c)
		if err != nil || fmt.Sprint(pairs, report) != fmt.Sprint(again, slow) {
			t.Fatalf("read byte by byte: %v %+v, at once: %v %+v", again, slow, pairs, report)
		}
		content = strings.TrimPrefix(content, "\ufeff")
		lines := strings.Count(content, "\n")
		if content != "" && !strings.HasSuffix(content, "\n") {
			lines++
		}
		if report.Lines != lines || report.Usable+report.Skipped != lines || len(pairs) != report.Usable {
			t.Fatalf("%+v for %d lines and %d pairs", report, lines, len(pairs))
		}
		for _, p := range pairs {
			if len(p.source) == 0 || len(p.target) == 0 {
				t.Fatalf("pair %v has an empty side", p)
			}
			line := c.Tokenizer.Join(p.source) + "\t" + c.Tokenizer.Join(p.target)
			if !utf8.ValidString(line) || !words && !strings.Contains("\n"+strings.ReplaceAll(content, "\n\ufeff", "\n")+"\n", "\n"+line) {
				t.Fatalf("%q is no line of %q", line, content)
			}
		}
	})
}
