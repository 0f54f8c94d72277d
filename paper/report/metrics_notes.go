package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// numerals are the numbers in a note.
var numerals = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// A commonNote is a note on a set that runs of a column share, up to its numbers.
type commonNote struct {
	set, text string     // text has a NUL in place of each number
	numbers   [][]string // of each run
}

// notes writes the notes of a column's runs, set by set. Numbers in which the runs differ are listed in the order of the runs.
func (p *page) notes(t paper.Table, c paper.Column) {
	list, runs := p.commonNotes(t, c)
	varies := false
	for _, n := range list {
		text, differ := n.line()
		if len(n.numbers) < runs {
			text += fmt.Sprintf(" (in %d of %s)", len(n.numbers), count(runs, "run"))
		}
		p.printf("- %s: %s.\n", escape(n.set), escape(text))
		varies = varies || differ
	}
	if varies {
		p.printf("\nSeveral numbers are those of the runs, in the order of the table.\n")
	}
	if len(list) > 0 {
		p.printf("\n")
	}
}

// commonNotes returns the notes of all runs of a column, in the order in which they first occur, and the number of runs.
func (p *page) commonNotes(t paper.Table, c paper.Column) (list []*commonNote, runs int) {
	for _, r := range t.Rows {
		for _, result := range p.book.of(r.Family, c.Name) {
			runs++
			for _, s := range result.measured.(*measure.Metrics).Sets {
				for _, note := range s.Notes {
					text := numerals.ReplaceAllString(note, "\x00")
					at := slices.IndexFunc(list, func(n *commonNote) bool { return n.set == s.Name && n.text == text })
					if at < 0 {
						at, list = len(list), append(list, &commonNote{set: s.Name, text: text})
					}
					list[at].numbers = append(list[at].numbers, numerals.FindAllString(note, -1))
				}
			}
		}
	}
	return list, runs
}

// line returns the note with its numbers, and whether the runs differ in one.
func (n *commonNote) line() (text string, differ bool) {
	text = n.text
	for i := range n.numbers[0] {
		var values []string
		for _, numbers := range n.numbers {
			values = append(values, numbers[i])
		}
		if unlike := slices.Compact(slices.Clone(values)); len(unlike) == 1 {
			values = unlike
		} else {
			differ = true
		}
		text = strings.Replace(text, "\x00", strings.Join(values, ", "), 1)
	}
	return text, differ
}
