package paper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Page is RESULTS.md while it is written.
type Page struct {
	text    bytes.Buffer
	root    string            // folder of results
	seen    string            // the same as links of the page see it
	Figures map[string][]byte // drawn for the page, by their paths below root
}

const preamble = `# Results

Written by ` + "`ut report`" + ` from the files in ` + "`%s`" + `, one for each training run. Every number of ours in a table comes from them, and what has no file is
called missing.

## The paper's tables and figures

`

// Render writes the page of results. root is the folder that they were read from, folder the one where the page will stand: links
// lead from there to figures.
func Render(results []Result, root, folder string) *Page {
	seen, err := filepath.Rel(folder, root)
	if err != nil {
		seen = root
	}
	p := &Page{root: root, seen: filepath.ToSlash(seen), Figures: map[string][]byte{}}
	p.Printf(preamble, p.seen)
	p.overview(results)
	for _, t := range Tables {
		if own := t.own(results); len(own) > 0 {
			p.Printf("\n## Table %s: %s\n\n", strings.TrimPrefix(t.Name, "table"), t.Title)
			t.Write(p, own)
		}
	}
	return p
}

// Bytes is the text of the page.
func (p *Page) Bytes() []byte { return p.text.Bytes() }

// own is the results that are of the table.
func (t *Table) own(results []Result) (own []Result) {
	for _, r := range results {
		if tableOf(r.Experiment) == t {
			own = append(own, r)
		}
	}
	return own
}

// Printf adds text.
func (p *Page) Printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

// Row adds a row of a table.
func (p *Page) Row(cells ...string) { p.Printf("| %s |\n", strings.Join(cells, " | ")) }

// Head adds the first row of a table, and the line below it.
func (p *Page) Head(cells ...string) {
	p.Row(cells...)
	p.Printf("|%s\n", strings.Repeat("---|", len(cells)))
}

// Has tells whether a file lies below the folder of results.
func (p *Page) Has(file string) bool {
	_, err := os.Stat(filepath.Join(p.root, file))
	return err == nil
}

// Link is the path of a file below the folder of results, as links of the page name it.
func (p *Page) Link(file string) string { return p.seen + "/" + filepath.ToSlash(file) }

// A Row is a table or figure of the paper in the overview.
type Row struct {
	Part    string // "table 4", "figure 3"
	What    string
	Paper   string // its figures
	Ours    string
	Missing string // what there is no result of; "" if nothing
}

// diagrams is the figures that show no measurement.
var diagrams = Row{Part: "figures 1, 2, 4", What: "diagrams of the model", Paper: "-", Ours: "nothing to measure; PAPER.md names the code"}

// overview is one table of all tables and figures: tables first.
func (p *Page) overview(results []Result) {
	p.Head("part", "what", "paper", "ours", "missing")
	tables, figures := []Row{}, []Row{diagrams}
	for _, t := range Tables {
		for _, r := range t.Overview(p, t.own(results)) {
			if strings.HasPrefix(r.Part, "figure") {
				figures = append(figures, r)
			} else {
				tables = append(tables, r)
			}
		}
	}
	for _, r := range append(tables, figures...) {
		p.Row(r.Part, r.What, r.Paper, r.Ours, r.Missing)
	}
}
