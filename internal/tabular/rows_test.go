package tabular_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/tabular"
)

// A NUL character in any line of a quoted field makes its row malformed, and no other.
// Caught when planted: a check of the first line alone; the lines of the field read as rows of their own.
func TestNULInField(t *testing.T) {
	path := write(t, "a.csv", []byte("x,a\n\"y\nz\x00\nw\",b\nv,c\n"))
	rows, _, err := read(t, tabular.Layout{}, path, columns("", ""))
	if want := "[1:x|a 2! it has a NUL character 5:v|c]"; err != nil || fmt.Sprint(rows) != want {
		t.Errorf("%q, %v, want %s", rows, err, want)
	}
}

// A file is csv by its name in upper case, too, also below that of a compression.
// Caught when planted: endings of compressions in lower case alone.
func TestUpperCaseNames(t *testing.T) {
	for _, name := range []string{"A.CSV", "A.CSV.GZ", "a.csv.XZ"} {
		if rows, _, err := read(t, tabular.Layout{}, write(t, name, zip([]byte("x,a\ny,b\n"))), columns("", "")); err != nil || fmt.Sprint(rows) != "[1:x|a 2:y|b]" {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}

// The command that converts a file of JSON reads one file and writes another, also where names differ in case alone.
// Caught when planted: the name of the file itself; names compared with their case.
func TestConvertedJSONHasAnotherName(t *testing.T) {
	for name, into := range map[string]string{"a.jsonl": "a.csv", "a.csv": "a.new.csv", "a.CSV": "a.new.csv", "a.csv.gz": "a.csv"} {
		content := []byte(`{"text": "x", "label": "a"}` + "\n")
		if name == "a.csv.gz" {
			content = zip(content)
		}
		path := write(t, name, content)
		_, _, err := read(t, tabular.Layout{}, path, columns("", ""))
		if want := " > " + filepath.Join(filepath.Dir(path), into); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want it to end in %q", name, err, want)
		}
	}
}

// A file that has more columns than are read, of which none is chosen, is refused with its columns and the settings that choose them, not with its
// first malformed row.
// Caught when planted: columns that are counted only in csv; a single row with a delimiter too many.
func TestTooManyColumns(t *testing.T) {
	rows := func(rows string) string { return rows + strings.Repeat("1,x,a\n", 5) }
	const want = ` has 3 columns ("id", "Review text", "Étiquette"): choose by name, or by number, with task.text_column=NAME and task.label_column=NAME`
	for name, c := range map[string]struct{ file, content, want string }{
		"csv":          {"a.csv", rows("\ufeffid,Review text,Étiquette\r\n"), want},
		"tsv":          {"a.tsv", strings.ReplaceAll(rows("id,Review text,Étiquette\n"), ",", "\t"), want},
		"one too many": {"a.csv", "1,x,a\nx,a\ny,b\n", ""},
		"many": {"a.csv", strings.Repeat("1,2,3,4,5,6,7,8,9,10,11,12\n", 3),
			` has 12 columns ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", ...): choose`},
	} {
		path := write(t, c.file, []byte(c.content))
		_, report, err := tabular.ReadFile(tabular.Layout{}, path, columns("", ""), func(int, []string) (int, error) { return 0, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Check("rows"); (err != nil) != (c.want != "") || err != nil && !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A file that is not text is not to be converted; text in another encoding is.
// Caught when planted: advice to convert a picture.
func TestBinaryFile(t *testing.T) {
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\x01": "it is not a text file: name a TSV or CSV file in UTF-8",
		"caf\xe9,a\n": "iconv -f WINDOWS-1252 -t UTF-8",
	} {
		path := write(t, "a.csv", []byte(content))
		if _, _, err := read(t, tabular.Layout{}, path, columns("", "")); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "iconv") != strings.Contains(want, "iconv") {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}
