package table

import (
	"fmt"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// A pair is one usable row.
type pair struct {
	hash           uint64   // of the source's text
	line           int      // its first line in its file, from 1
	source, target []string // tokens; a side that will be split into subwords is one token
	origin         Origin
}

// Origin is the text that an example was made from.
type Origin struct{ source, target string }

// Text returns both sides.
func (o Origin) Text() (source, target string) { return o.source, o.target }

// columns returns the columns of a pair.
func (c Table) columns() []tabular.Column {
	return []tabular.Column{
		{Name: "source", Choice: c.SourceColumn, Usual: []string{"source", "src", "input", "question"}},
		{Name: "target", Choice: c.TargetColumn, Usual: []string{"target", "trg", "tgt", "output", "answer"}},
	}
}

// wanted describes a row for messages.
const wanted = "one source TAB target a line, or the rows of a CSV file"

// readFile reads all pairs of a file. It returns an error if the file is empty, or if none or fewer than half of its rows are usable.
func readFile(c Table, path string, report *Report) ([]pair, error) {
	pairs, part, err := tabular.ReadFile(c.Layout, path, c.columns(), c.pair)
	report.Files = append(report.Files, part)
	if err != nil {
		return nil, err
	}
	return pairs, part.Check(wanted)
}

// pair splits both sides into tokens; the error says why the pair is malformed.
func (c Table) pair(line int, sides []string) (pair, error) {
	p := pair{line: line, hash: tabular.Hash(sides[0]), origin: Origin{sides[0], sides[1]}}
	var err error
	if p.source, err = tokens("source", sides[0], c); err != nil {
		return pair{}, err
	}
	if p.target, err = tokens("target", sides[1], c); err != nil {
		return pair{}, err
	}
	return p, nil
}

func tokens(side, text string, c Table) ([]string, error) {
	split, err := c.split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", side, err)
	case len(split) == 0:
		return nil, fmt.Errorf("the %s is empty", side)
	case len(split) > c.MaxLength:
		return nil, fmt.Errorf("the %s has %d tokens, %s", side, len(split), c.limit())
	}
	for _, s := range split {
		if vocab.Reserved(s) && c.Tokenizer != vocab.Subwords {
			return nil, fmt.Errorf("the %s has the reserved token %s", side, s)
		}
	}
	return split, nil
}

// limit describes the maximum length, which only the table's own files can change.
func (c Table) limit() string {
	if c.Path == "" {
		return fmt.Sprintf("more than %d", c.MaxLength)
	}
	return fmt.Sprintf("more than task.max_length %d: raise it", c.MaxLength)
}

// split splits one side of a line into tokens. With subwords, which are learned later, the whole side is one token.
func (c Table) split(text string) ([]string, error) {
	switch {
	case c.Tokenizer != vocab.Subwords:
		return c.Tokenizer.Split(text)
	case text == "":
		return nil, nil
	}
	return []string{text}, subword.CheckText(text)
}
