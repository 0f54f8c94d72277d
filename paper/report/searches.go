package report

import (
	"fmt"
	"path"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// searches writes the searches behind a table, and names the rows without one in any column.
func (p *page) searches(t paper.Table) {
	p.printf("## Searches\n\nTrials with other values of a recipe's fields, compared on validation data. Only trials with recorded figures are listed; docs/log.md describes others in words.\n\n")
	for _, s := range p.book.searchesOf(t) {
		p.search(s)
	}
	searched, without := p.book.searchedRows(t)
	if len(searched) == 0 {
		p.printf("No search is recorded for any row of this table.\n\n")
	} else if len(without) > 0 {
		p.printf("No search is recorded for any column of %s.\n\n", and(without))
	}
}

// search writes one search: what all trials have, each trial with what differs, and what was selected.
func (p *page) search(s Search) {
	p.printf("### %s: %s\n\n", s.cell.Recipe(), s.file.Name)
	if len(s.file.Set) > 0 {
		p.printf("All trials: `%s`. ", strings.Join(s.file.Set, "`, `"))
	}
	if s.kept() {
		p.printf("From its [results](%s), which have the configurations; described in docs/log.md, %s.\n\n", path.Join(sweep.SearchesFolder, s.file.Name), s.Log)
	} else {
		p.printf("**From docs/log.md only**, %s: no result was kept, and what the log does not say is not recorded.\n\n", s.Log)
	}
	measure := s.Measure
	if measure == byEntropy {
		measure += ", nats a token"
	}
	p.head("trial", "differs in", "seed", "updates", measure, "trained by")
	for _, point := range s.points {
		p.trials(s, point)
	}
	if s.Selected == "" {
		p.printf("\nNone was selected by this measure; the search is for information.\n\n")
	} else {
		p.printf("\nSelected: %s, which the recipe has.\n\n", escape(s.Selected))
	}
}

// trials writes the finished trials of a point, by seed, or says that there is none.
func (p *page) trials(s Search, point sweep.Variant) {
	differs, finished := strings.Join(point.Set, ", "), false
	for _, t := range s.Trials {
		if t.Recipe != point.Name {
			continue
		}
		finished = true
		p.row(t.Recipe, differs, fmt.Sprint(t.Seed), thousands(int(t.Step)), fmt.Sprintf("%.4g", t.Validation), by(t.TrainedBy))
	}
	if !finished {
		p.row(point.Name, differs, "", "", "not finished", "")
	}
}

// searchesOf returns the searches of a table, in the order of its rows.
func (b book) searchesOf(t paper.Table) (list []Search) {
	for _, r := range t.Rows {
		for _, s := range b.searches {
			if s.cell.Row.Family == r.Family {
				list = append(list, s)
			}
		}
	}
	return list
}

// searchedRows returns the rows of a table with and without a search.
func (b book) searchedRows(t paper.Table) (searched, without []string) {
	of := map[string]bool{}
	for _, s := range b.searchesOf(t) {
		of[s.cell.Row.Family] = true
	}
	for _, r := range t.Rows {
		if of[r.Family] || of[r.RatesOf] {
			searched = append(searched, r.Family)
		} else {
			without = append(without, r.Family)
		}
	}
	return searched, without
}

// searchedCells says for how many cells of a table a search is shown: "2 of 18 cells".
func (p *page) searchedCells(t paper.Table) string {
	cells := 0
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			if r.Has(c.Name) {
				cells++
			}
		}
	}
	searched := map[string]bool{}
	for _, s := range p.book.searchesOf(t) {
		searched[s.cell.Recipe()] = true
	}
	return fmt.Sprintf("%d of %s", len(searched), count(cells, "cell"))
}
