package report

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// Pages holds the files of a report.
type Pages struct {
	Results []byte            // RESULTS.md
	Files   map[string][]byte // pages and figures by their paths, with slashes, below the folder of results
}

// Input is what the pages show.
type Input struct {
	Results  []sweep.Result
	Searches []Search
	Paired   []measure.Paired // tests of the translations of table 7
	Depth    []DepthFile
	Halting  []HaltingFile
}

// ReadInput reads what the pages show below a folder of results.
func ReadInput(root string) (in Input, err error) {
	if in.Results, err = sweep.ReadAll(root); err != nil {
		return in, err
	}
	if in.Searches, err = ReadSearches(root); err != nil {
		return in, err
	}
	if in.Paired, err = ReadPaired(root); err != nil {
		return in, err
	}
	if in.Depth, err = ReadDepth(root); err != nil {
		return in, err
	}
	in.Halting, err = ReadHalting(root)
	return in, err
}

// Render writes all pages. has reports whether a figure exists below the folder of results. folder is the path of that folder in links of
// RESULTS.md.
func Render(in Input, folder string, has func(file string) bool) (Pages, error) {
	b, err := newBook(in.Results)
	if err != nil {
		return Pages{}, err
	}
	b.searches = in.Searches
	if err := b.addPaired(in.Paired); err != nil {
		return Pages{}, err
	}
	pages := Pages{Files: map[string][]byte{}}
	front := &page{book: b, files: pages.Files, has: has, folder: filepath.ToSlash(folder)}
	front.verdicts()
	for _, t := range paper.All() {
		front.heading(t)
		layouts[t.Number].section(front, t)
		details := &page{book: b, files: pages.Files, has: has}
		details.details(t)
		pages.Files[t.Name()+".md"] = details.text.Bytes()
	}
	front.depth(in.Depth)
	front.halting(in.Halting)
	pages.Results = bytes.TrimRight(front.text.Bytes(), "\n")
	pages.Results = append(pages.Results, '\n')
	return pages, nil
}

// A page is a Markdown file to be written.
type page struct {
	text   bytes.Buffer
	book   book
	files  map[string][]byte // receives the figures
	has    func(file string) bool
	folder string // path of the results in links of this page
}

// heading begins the section of a table.
func (p *page) heading(t paper.Table) {
	details := path.Join(p.folder, t.Name()+".md")
	const use = " Use of test results during development:"
	inline, list := use+" "+t.Seen[0], ""
	if len(t.Seen) > 1 {
		inline, list = "", use+"\n\n- "+strings.Join(t.Seen, "\n- ")
	}
	preface := strings.TrimSpace(t.Preface)
	if t.Depths != "" {
		preface += " " + t.Depths + "."
	}
	p.printf("## Table %d: %s (%s)\n%s\n\n%s[Searches](%s#searches) on validation data are recorded for %s.%s%s [All measurements, parameters, training times and figures](%s).%s%s\n\n",
		t.Number, t.Title, t.Section, preface, unequal(t), details, p.searchedCells(t), inline, p.earlier(t), details, p.curvesLink(t), list)
}

// unequal names the rows that break the rule of fair comparisons, which the page of the table states.
func unequal(t paper.Table) (text string) {
	if rows := t.Exceptions(); len(rows) > 0 {
		text += fmt.Sprintf("**Exceptions** (%s), which were not trained like the Universal Transformer of their block, so that differences from them count in no verdict; the page of measurements says why: %s. ", exception, strings.Join(t.Titles(rows), "; "))
	}
	var rounded []paper.Row
	for _, r := range t.Rows {
		if slices.ContainsFunc(t.UnequalBackends(), func(u paper.UnequalBackend) bool { return u.Family == r.Family }) {
			rounded = append(rounded, r)
		}
	}
	if len(rounded) > 0 {
		text += fmt.Sprintf("Trained with products in bfloat16 in some columns in which others have float32: %s. ", strings.Join(t.Titles(rounded), "; "))
	}
	return text
}

// exceptions says how and why rows break the rule of fair comparisons.
func (p *page) exceptions(t paper.Table) {
	p.printf("## Fair comparisons\n\n%s.\n\n", t.Rule())
	if t.Depths != "" {
		p.printf("%s.\n\n", t.Depths)
	}
	found := len(t.Exceptions()) > 0
	for _, r := range t.Rows {
		for _, u := range r.Unequal {
			p.printf("- %s also differs in `%s`: %s.\n", t.Titles([]paper.Row{r})[0], strings.Join(u.Fields, "`, `"), u.Why)
		}
	}
	for _, u := range t.UnequalBackends() {
		p.printf("- %s, %s: trained with %s, %s with %s: %s.\n", u.Family, u.Column, u.Options, u.Than, u.ThanOptions, u.Why)
		found = true
	}
	if found {
		p.printf("\n")
	}
}

// details writes the page of a table.
func (p *page) details(t paper.Table) {
	p.printf("# Table %d: %s\n\nAll measurements of [RESULTS.md](../RESULTS.md), section table %[1]d.\n\n", t.Number, t.Title)
	p.exceptions(t)
	p.searches(t)
	p.further(t)
	layouts[t.Number].details(p, t)
	p.curves(t)
	p.sizes(t)
	p.otherValues(t)
	p.training(t)
}

// further writes the columns and rows that are not of the paper's layout.
func (p *page) further(t paper.Table) {
	if slices.ContainsFunc(t.Rows, func(r paper.Row) bool { return r.Detail }) {
		p.printf("## Further models\n\n")
		p.sequences(t, true)
	}
	if slices.ContainsFunc(t.Columns, func(c paper.Column) bool { return c.Detail }) {
		p.printf("## Further settings\n\n%s marks the difference from a model that was not trained alike.\n\n", exception)
		p.metrics(t, true, "")
	}
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

// head writes the first row of a table, and the line below it.
func (p *page) head(cells ...string) {
	p.row(cells...)
	p.printf("|%s\n", strings.Repeat("---|", len(cells)))
}

// row writes a row of a table.
func (p *page) row(cells ...string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = escape(c)
	}
	p.printf("| %s |\n", strings.Join(escaped, " | "))
}

// draw adds a figure and links it.
func (p *page) draw(file, title string, drawing []byte) {
	p.files[file] = drawing
	p.link(file, title)
}

// link shows a figure below the folder of results.
func (p *page) link(file, title string) {
	p.printf("![%s](%s)\n\n", escape(title), path.Join(p.folder, filepath.ToSlash(file)))
}

var escapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "\r", " ", "\n", " ", "](", `]\(`, "`", "'")

// escape escapes text for Markdown, so that text of result files cannot end a cell, begin a tag or become a link.
func escape(text string) string { return escapes.Replace(text) }

// earlier reports the number of runs of a table that were trained with earlier versions of their recipes, and of those with other values.
func (p *page) earlier(t paper.Table) (text string) {
	old, unread, runs := 0, 0, p.book.table(t)
	for _, r := range runs {
		switch version := r.recipeVersion(); {
		case strings.HasSuffix(version, unreadable):
			unread++
		case version != today:
			old++
		}
	}
	if old > 0 {
		text += fmt.Sprintf(" %d of %s used earlier versions of their recipes.", old, count(len(runs), "run"))
	}
	if unread > 0 {
		text += fmt.Sprintf(" The configurations of %d of %s are of an earlier form and were not compared with the present recipes.", unread, count(len(runs), "run"))
	}
	if n := len(p.book.withOtherValues(t)); n > 0 {
		text += fmt.Sprintf(" %s with other values than those of the recipes can be found on the page of measurements only.", count(n, "run"))
	}
	return text
}

// count returns "1 task", "2 tasks".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands formats 105242 as 105,242.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// halvesUp formats a mean of counts, such as 16.255. Its halves are rounded up, although a binary fraction may be slightly below them.
func halvesUp(format string, mean float64) string { return fmt.Sprintf(format, mean+1e-9) }

// spread formats mean ± deviation, or a single value.
func spread(format string, values []float64) string {
	mean, deviation := moments(values)
	if math.IsNaN(deviation) {
		return halvesUp(format, mean)
	}
	return halvesUp(format, mean) + fmt.Sprintf(" ± "+format, deviation)
}

// and joins words: "a", "a and b", "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// numbered returns "task 3", "tasks 7 and 8", "tasks 4 to 6".
func numbered(tasks []int) string {
	if len(tasks) == 1 {
		return fmt.Sprintf("task %d", tasks[0])
	}
	var runs []string
	for i := 0; i < len(tasks); {
		j := i
		for j+1 < len(tasks) && tasks[j+1] == tasks[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			runs = append(runs, fmt.Sprint(tasks[i]))
		case 1:
			runs = append(runs, fmt.Sprint(tasks[i]), fmt.Sprint(tasks[j]))
		default:
			runs = append(runs, fmt.Sprintf("%d to %d", tasks[i], tasks[j]))
		}
		i = j + 1
	}
	return "tasks " + and(runs)
}
