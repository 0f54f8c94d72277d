package report

import (
	"fmt"
	"path"
	"strings"

	"universal-transformer/paper"
)

// logged returns the larger tests of a table's Universal Transformer that only docs/log.md has.
func (p *page) logged(t paper.Table) string {
	if len(t.Logged) == 0 || len(p.book.table(t)) == 0 {
		return ""
	}
	var texts []string
	for _, l := range t.Logged {
		texts = append(texts, l.Text)
	}
	return fmt.Sprintf(" Larger tests of the selected seeds of the Universal Transformer with our positions, whose figures are not from result files but from docs/log.md ([entries](%s#larger-tests)): %s.",
		path.Join(p.folder, t.Name()+".md"), strings.Join(texts, "; "))
}

// loggedDetails lists the larger tests with their entries.
func (p *page) loggedDetails(t paper.Table) {
	if len(t.Logged) == 0 {
		return
	}
	p.printf("## Larger tests\n\nOf the selected seeds of the Universal Transformer with our positions. No result file was kept: these figures are those of entries of docs/log.md.\n\n")
	for _, l := range t.Logged {
		p.printf("- %s: %q.\n", l.Text, l.Entry)
	}
	p.printf("\n")
}
