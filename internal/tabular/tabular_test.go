package tabular_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/textfile"
)

func columns(text, label string) []tabular.Column {
	return []tabular.Column{{Name: "text", Choice: text, Usual: []string{"text"}}, {Name: "label", Choice: label, Usual: []string{"label", "class"}}}
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns rows as "line:text|label", or "line! reason".
func read(t *testing.T, l tabular.Layout, path string, c []tabular.Column) (rows []string, info tabular.Info, err error) {
	t.Helper()
	info, err = l.Read(path, c, func(r tabular.Row) {
		if r.Err != nil {
			rows = append(rows, fmt.Sprintf("%d! %v", r.Line, r.Err))
			return
		}
		rows = append(rows, fmt.Sprintf("%d:%s", r.Line, strings.Join(r.Fields, "|")))
	})
	return rows, info, err
}

// Each file has the rows that a reader of RFC 4180 finds in it, with the numbers of their first lines.
// Caught when planted: a header that counts as a row, a quote that hides later lines, the second of two equal columns.
func TestRows(t *testing.T) {
	for name, c := range map[string]struct {
		layout      tabular.Layout
		file        string
		content     string
		text, label string
		want        []string
	}{
		"tsv":                    {file: "a.tsv", content: "x y\ta\n\"q\"\tb\n", want: []string{"1:x y|a", "2:\"q\"|b"}},
		"tsv with header":        {file: "a.tsv", content: "Text\tLabel\nx\ta\n", want: []string{"2:x|a"}},
		"header denied":          {layout: tabular.Layout{Header: "no"}, file: "a.tsv", content: "text\tlabel\nx\ta\n", want: []string{"1:text|label", "2:x|a"}},
		"header declared":        {layout: tabular.Layout{Header: "yes"}, file: "a.tsv", content: "one\ttwo\nx\ta\n", want: []string{"2:x|a"}},
		"csv":                    {file: "a.csv", content: "x,a\r\n\"y, \"\"z\"\"\",b\r\n", want: []string{"1:x|a", `2:y, "z"|b`}},
		"delimiter in a line":    {file: "a.csv", content: "sep=;\r\ntext;label\r\nx, y;a\r\n", want: []string{"3:x, y|a"}},
		"delimiter, quoted":      {file: "a.csv", content: "\ufeff\"SEP=|\"\nx|a\n", want: []string{"2:x|a"}},
		"delimiter, a letter":    {file: "a.csv", content: "Sep=T\nxTa\n", want: []string{"2:x|a"}},
		"delimiter in a .txt":    {file: "a.txt", content: "\ufeffsep=;\nx;a\n", want: []string{"2:x|a"}},
		"two declarations":       {layout: tabular.Layout{Delimiter: ";"}, file: "a.csv", content: "sep=,\nx;a\n", want: []string{"2:x|a"}},
		"sep= is no declaration": {file: "a.csv", content: "sep=ab,a\n", want: []string{"1:sep=ab|a"}},
		"csv, usual names":       {file: "a.CSV", content: "id,class,text\n1,a,x\n2,b,\"y\nz\"\n3,c,w\n", want: []string{"2:x|a", "3:y z|b", "5:w|c"}},
		"by name":                {file: "a.csv", content: "id,stars,review\n1,5,good\n", text: "review", label: "stars", want: []string{"2:good|5"}},
		"by number":              {file: "a.csv", content: "1,5,good\n2,3,so\n", text: "3", label: "2", want: []string{"1:good|5", "2:so|3"}},
		"number below a header":  {layout: tabular.Layout{Header: "yes"}, file: "a.csv", content: "id,stars,review\n1,5,good\n", text: "3", label: "stars", want: []string{"2:good|5"}},
		"semicolons":             {layout: tabular.Layout{Delimiter: ";"}, file: "a.csv", content: "x,y;a\n", want: []string{"1:x,y|a"}},
		"tabs in .csv":           {file: "a.csv", content: "x, y\ta\n", want: []string{"1:x, y|a"}},
		"csv under another name": {layout: tabular.Layout{Format: "csv"}, file: "a.txt", content: "x,a\n", want: []string{"1:x|a"}},
		"bad rows": {file: "a.csv", content: "text,label\nx,a\nonly\na \"b\" c,d\n\ny,\"b\n", want: []string{"2:x|a", "3! it has 1 field, not 2",
			"4! a quote inside a field: quote the whole field, and write quotes inside it twice", "5! the line is empty", "6! a quoted field does not end"}},
		"a quote too many": {file: "a.csv", content: "x,a\n\"y,b\nz,c\n\"w\",d\n", want: []string{"1:x|a",
			"2! a quote inside a field: quote the whole field, and write quotes inside it twice", "3:z|c", "4:w|d"}},
		"a declared delimiter": {layout: tabular.Layout{Delimiter: "|"}, file: "a.txt", content: "x, \ty|a\n", want: []string{"1:x,  y|a"}},
		"a header of two rows": {file: "a.tsv", content: " text \t label\ntext\tlabel\n", text: " text", label: "label ", want: []string{"2:text|label"}},
		"which setting is missing": {file: "a.tsv", content: "x\ta\ny;b\ny|b\ny,b\ny b\ny\tb\tc\n", want: []string{"1:x|a",
			`2! no tab between text and label: set task.delimiter=";" if the fields stand between semicolons`,
			`3! no tab between text and label: set task.delimiter="|" if the fields stand between such lines`,
			"4! no tab between text and label: set task.format=csv if the fields stand between commas", "5! no tab between text and label",
			"6! more than one tab: choose the columns with task.text_column and task.label_column"}},
		"which setting is missing in csv": {file: "a.csv", content: "1,x,a\n1;x\n1\n", want: []string{"1! it has 3 fields, not 2: choose the columns with task.text_column and task.label_column",
			`2! it has 1 field, not 2: set task.delimiter=";" if the fields stand between semicolons`,
			"3! it has 1 field, not 2: set task.format=tsv, or task.delimiter to the character between the fields"}},
		"a comma too many":      {file: "a.csv", content: "text,label\nx,y,a\n", want: []string{"2! it has 3 fields, not 2: quote a field that has the delimiter"}},
		"marks of joined files": {file: "a.tsv", content: "\ufeffx\ta\n\ufeffy\tb\n", want: []string{"1:x|a", "2:y|b"}},
	} {
		got, _, err := read(t, c.layout, write(t, c.file, []byte(c.content)), columns(c.text, c.label))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// The rows of the format Spaces are split as the first row is; # begins a comment unless the line has as many fields as the others; blank
// lines may have white space. An empty choice of a last column is that of the first row.
// Caught when planted: comments that decide how rows are split, a # that is always a comment, the second column for the last.
func TestSpaces(t *testing.T) {
	for name, c := range map[string]struct {
		file, content, word, tag string
		want                     []string
	}{
		"two columns":         {content: "EU  B-ORG\n. O\n \nI O", want: []string{"1:EU|B-ORG", "2:.|O", "3! the line is empty", "4:I|O"}},
		"first and last":      {content: "EU NNP B-NP B-ORG\nsaid VBD O\n\n# # O O\n", want: []string{"1:EU|B-ORG", "2! it has 3 fields, not 4", "3! the line is empty", "4:#|O"}},
		"tabs":                {content: "# id = 1\n# text = a b\n1\ta\tX\n# id = 2\n2\tb c\tY\n\"\t\"\tZ\n", want: []string{"3:1|X", "5:2|Y", `6:"|Z`}},
		"tabs, by number":     {content: "# id = 1\n1\ta\tX\t_\n2\tb c\tY\t_\n", word: "2", tag: "3", want: []string{"2:a|X", "3:b c|Y"}},
		"header":              {content: "\n\nword pos tag\na X O\n", want: []string{"1! the line is empty", "2! the line is empty", "4:a|O"}},
		"header, by name":     {content: "form\tner\tid\na\tO\t1\n", word: "form", tag: "ner", want: []string{"2:a|O"}},
		"csv":                 {file: "a.csv", content: "\",\",O\n\na b,O\n", want: []string{"1:,|O", "2! the line is empty", "3:a b|O"}},
		"a row too many":      {content: "a O\nb\nc O extra\n", want: []string{"1:a|O", "2! it has 1 field, not 2", "3! it has 3 fields, not 2"}},
		"only comments":       {content: "# a\n#b c\n"},
		"malformed first row": {content: "a\x00b\na O\n", want: []string{"1! it has a NUL character", "2:a|O"}},
	} {
		columns := []tabular.Column{{Name: "word", Choice: c.word, Usual: []string{"word"}}, {Name: "tag", Choice: c.tag, Usual: []string{"tag"}, Last: true}}
		got, _, err := read(t, tabular.Layout{Otherwise: tabular.Spaces}, write(t, cmp.Or(c.file, "a.conll"), []byte(c.content)), columns)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	one := []tabular.Column{{Name: "word"}, {Name: "tag", Last: true}}
	if _, _, err := read(t, tabular.Layout{Format: tabular.Spaces}, write(t, "a", []byte("a\nb\n")), one); err == nil || !strings.Contains(err.Error(), "the first row has one column: a row needs word and tag") {
		t.Errorf("one column: %v", err)
	}
}

// A compressed file has the rows and the digest of the plain one. The digest is that of `printf 'x\ta\ny\tb\n' | sha256sum`.
func TestCompressed(t *testing.T) {
	const content, digest = "x\ta\ny\tb\n", "3a1702693b7c66e03fd5577a627d9d4529567d385a2ed87c2d4d6f4b0d1c7283"
	var zipped, packed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	x, err := xz.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = x.Write([]byte(content))
	_ = x.Close()
	for name, data := range map[string][]byte{"a.tsv": []byte(content), "a.tsv.gz": zipped.Bytes(), "a.tsv.xz": packed.Bytes(), "renamed": packed.Bytes()} {
		rows, info, err := read(t, tabular.Layout{}, write(t, name, data), columns("", ""))
		if err != nil || fmt.Sprint(rows) != "[1:x|a 2:y|b]" || info.Digest != digest {
			t.Errorf("%s: %q, %+v, %v", name, rows, info, err)
		}
	}
	if _, _, err := read(t, tabular.Layout{}, write(t, "cut.gz", zipped.Bytes()[:15]), columns("", "")); err == nil {
		t.Error("half a gzip file is accepted")
	}
}

// zip returns content compressed by gzip.
func zip(content []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(content)
	_ = w.Close()
	return zipped.Bytes()
}

// xzip returns text compressed by xz.
func xzip(text string) []byte {
	var packed bytes.Buffer
	w, err := xz.NewWriter(&packed)
	if err != nil {
		panic(err) // the configuration is the default
	}
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return packed.Bytes()
}

// Files that cannot be read name what to do about it, and the name of the file.
func TestRefusedFiles(t *testing.T) {
	utf16 := func(text string) (data []byte) {
		for _, r := range text {
			data = append(data, byte(r), byte(r>>8))
		}
		return data
	}
	for name, c := range map[string]struct {
		file    string
		content []byte
		text    string
		want    string
	}{
		"UTF-16":              {"a.tsv", append([]byte{0xff, 0xfe}, utf16("x\ta\n")...), "", "it is UTF-16: convert it to UTF-8 with: iconv -f UTF-16 -t UTF-8 "},
		"UTF-16 without mark": {"a b.tsv", utf16("one line\tanother\n"), "", "it is UTF-16LE: convert it to UTF-8 with: iconv -f UTF-16LE -t UTF-8 < '"},
		"Latin-1":             {"a.csv", []byte("x,a\nna\xefve,b\n"), "", "line 2 is not valid UTF-8 at byte 3: convert the file to UTF-8, from Windows-1252 for instance, with: iconv -f WINDOWS-1252 -t UTF-8 "},
		"a spreadsheet":       {"a.csv", []byte("PK\x03\x04...."), "", "save the spreadsheet as CSV"},
		"bzip2":               {"a.tsv.bz2", []byte("BZh91AY&SY..."), "", "it is compressed with bzip2: decompress it with bunzip2"},
		"zstd":                {"a.tsv", []byte("\x28\xb5\x2f\xfd\x04"), "", "it is compressed with zstd: decompress it with unzstd"},
		"tar":                 {"a.tsv", append(make([]byte, 257), "ustar\x0000"...), "", "it is a tar archive: unpack it with tar -xf"},
		"tar in gzip":         {"a.tgz", zip(append(make([]byte, 257), "ustar  \x00"...)), "", "it is a tar archive"},
		"an old spreadsheet":  {"a.csv", []byte("\xd0\xcf\x11\xe0\xa1"), "", "it is a spreadsheet or document of Office: save it as CSV"},
		"gzip and more":       {"a b.tsv.gz", append(zip([]byte("x\ta\n")), "more"...), "", "followed by others (unexpected EOF): get the file again, or keep what can be read with: gzip -dc '"},
		"xz and more":         {"a.tsv.xz", append(xzip("x\ta\n"), "more"...), "", "damaged, cut off or followed by others"},
		"xz and more in .csv": {"a.csv.xz", append(xzip("x,a\n"), "more than that"...), "", "damaged, cut off or followed by others"},
		"xz, cut":             {"a.csv.xz", xzip(strings.Repeat("x,a\n", 50))[:40], "", "keep what can be read with: xz -dc "},
		"gzip, cut":           {"a.gz", zip([]byte("x\ta\n"))[:20], "", "the compressed data are damaged, cut off or followed by others (unexpected EOF)"},
		"a start of gzip":     {"a.gz", []byte("\x1f\x8b\x08"), "", "the compressed data are damaged, cut off"},
		"a start of xz":       {"a", []byte("\xfd7zXZ\x00"), "", "keep what can be read with: xz -dc "},
		"CR":                  {"a.tsv", []byte("x\ta\ry\tb\r"), "", `its line ends are CR alone: convert them with: tr '\r' '\n' < /`},
		"CR in gzip":          {"a.tsv.gz", zip([]byte("x\ta\ry\tb\r")), "", `a.tsv.gz | tr '\r' '\n' > /`},
		"columns of one name": {"a.csv", []byte("text,label,label\nx,a,b\n"), "", `columns 2 and 3 are both named "label": choose one by number, with task.label_column`},
		"no such column":      {"a.csv", []byte("reviews,label\nx,a\n"), "review", `text_column is "review", but the columns are ["reviews" "label"]: did you mean "reviews"?`},
		"too few columns":     {"a.csv", []byte("x,a\n"), "3", "text_column is column 3, but the first row has 2"},
		"semicolons":          {"a.csv", []byte("review;label\nx;a\n"), "review", `text_column is "review", but the columns are ["review;label"]: set task.delimiter=";" if the fields stand between semicolons`},
		"lines":               {"a.csv", []byte("review|label\nx|a\n"), "2", `text_column is column 2, but the first row has 1: set task.delimiter="|" if the fields stand between such lines`},
		"commas":              {"a.txt", []byte("review,label\nx,a\n"), "review", `the columns are ["review,label"]: set task.format=csv if the fields stand between commas`},
		"a remark":            {"a.csv", []byte("# a remark\nx,a\n"), "2", `but the first row has 1: set task.format=tsv, or task.delimiter to the character between the fields`},
		"one column for both": {"a.csv", []byte("x,a\n"), "2", "task.text_column and task.label_column are both column 2"},
	} {
		path := write(t, c.file, c.content)
		_, _, err := read(t, tabular.Layout{}, path, columns(c.text, ""))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, _, err := read(t, tabular.Layout{}, "-", columns("", "")); err == nil || !strings.Contains(err.Error(), "save them in a file") {
		t.Errorf("standard input: %v", err)
	}
}

// Without a header, the remark says what the first row is taken for, except in rows of spaces, which rarely have one; the numbers of columns do not
// make a header. Caught when planted: no remark on tsv.
func TestRemark(t *testing.T) {
	for name, c := range map[string]struct {
		layout        tabular.Layout
		file, content string
		want          string
	}{
		"csv":             {file: "a.csv", content: "words,stars\nx,a\n", want: `the first row is read as data, with the label "stars": if it is a header, set task.header=yes`},
		"csv, declared":   {tabular.Layout{Header: "no"}, "a.csv", "words,stars\nx,a\n", ""},
		"csv, malformed":  {file: "a.csv", content: "words\nx,a\n", want: ""},
		"csv, other file": {tabular.Layout{}.ForOther(), "a.csv", "words,stars\nx,a\n", ""},
		"tsv":             {file: "a.tsv", content: "words\tstars\nx\ta\n", want: `the first row is read as data, with the label "stars": if it is a header, set task.header=yes`},
		"spaces":          {tabular.Layout{Format: "spaces"}, "a", "words stars\nx a\n", ""},
		"header":          {file: "a.csv", content: "text,label\nx,a\n", want: `the first row is a header: text is column "text", label is column "label"`},
	} {
		_, info, err := read(t, c.layout, write(t, c.file, []byte(c.content)), columns("", ""))
		if err != nil || info.Header != c.want {
			t.Errorf("%s: %q, %v, want %q", name, info.Header, err, c.want)
		}
	}
}

// A file to evaluate on has the format of the configuration's file or is tab-separated, whatever its name.
func TestForOther(t *testing.T) {
	for name, c := range map[string]struct {
		layout        tabular.Layout
		file, content string
		want          string
	}{
		"csv as configured":        {tabular.Layout{Format: "csv"}, "a.txt", "\"x, y\",a\n", "[1:x, y|a]"},
		"tsv for csv":              {tabular.Layout{Format: "csv"}, "a.csv", "\"x\"\ta\n", `[1:"x"|a]`},
		"csv for tsv":              {tabular.Layout{Format: "tsv"}, "a.csv", "\"x\",a\n", "[1:x|a]"},
		"the declared delimiter":   {tabular.Layout{Delimiter: ";"}, "a.txt", "x,y;a\n", "[1:x,y|a]"},
		"tsv for that delimiter":   {tabular.Layout{Delimiter: ";"}, "a.csv", "x;y\ta\n", "[1:x;y|a]"},
		"spaces":                   {tabular.Layout{Format: "spaces"}, "a", "x a\n", "[1:x|a]"},
		"tsv for spaces":           {tabular.Layout{Format: "spaces"}, "a", "x y\ta\n", "[1:x y|a]"},
		"a header as configured":   {tabular.Layout{Header: "yes"}, "a", "words\tstars\nx\ta\n", "[2:x|a]"},
		"no header, as configured": {tabular.Layout{Header: "no"}, "a", "text\tlabel\n", "[1:text|label]"},
	} {
		got, _, err := read(t, c.layout.ForOther(), write(t, c.file, []byte(c.content)), columns("", ""))
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for want, l := range map[string]tabular.Layout{
		`format is "xls"`:     {Format: "xls"},
		`header is "true"`:    {Header: "true"},
		`delimiter is ";;"`:   {Delimiter: ";;"},
		`delimiter is "\""`:   {Delimiter: `"`},
		"set task.format=csv": {Delimiter: ";", Format: "tsv"},
		"format is spaces":    {Delimiter: ";", Format: "spaces"},
	} {
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
	for want, c := range map[string][]tabular.Column{"counted from 1": columns("0", ""), "header is no": columns("review", "")} {
		if err := (tabular.Layout{Header: "no"}).ValidateColumns(c...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzParse: rows do not depend on how bytes arrive; each row has all columns or an error of one line; lines increase.
func FuzzParse(f *testing.F) {
	f.Add("text,label\nx,\"a\nb\"\n\"c\n", "csv", "", "")
	f.Add("sep=,\na,b\nsep=;\n", "csv", "", "")
	f.Add("1\t2\t3\r\n\ufeffa\tb\tc", "tsv", "3", "1")
	f.Add("a;\"\"\"b\"\n;;", "csv", "a", "2")
	f.Add("# c\n\nx a\n#\tb\n \n# b", "spaces", "", "")
	f.Fuzz(func(t *testing.T, content, format, text, label string) {
		l := tabular.Layout{Format: format, Delimiter: ";"}
		parse := func(r *strings.Reader, slow bool) (list []tabular.Row, err error) {
			reader := textfile.NewReader(r, 1<<30)
			if slow {
				reader = textfile.NewReader(iotest.OneByteReader(r), 1<<30)
			}
			_, err = l.Parse(reader, columns(text, label), func(r tabular.Row) { list = append(list, r) })
			return list, err
		}
		if l.Validate() != nil || l.ValidateColumns(columns(text, label)...) != nil {
			return
		}
		rows, err := parse(strings.NewReader(content), false)
		again, same := parse(strings.NewReader(content), true)
		if fmt.Sprint(rows, err) != fmt.Sprint(again, same) {
			t.Fatalf("%v %v at once, %v %v byte by byte", rows, err, again, same)
		}
		last := 0
		for _, r := range rows {
			if r.Line <= last || r.Err == nil && len(r.Fields) != 2 || r.Err != nil && strings.Contains(r.Err.Error(), "\n") {
				t.Fatalf("row %+v after line %d", r, last)
			}
			last = r.Line
		}
	})
}
