package table

import (
	"crypto/sha256"
	"encoding/binary"
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
}

// held reports whether the pair is held out, if the given share of the sources is.
func (p pair) held(share float64) bool { return float64(p.hash)/(1<<64) < share }

// columns returns the columns of a pair.
func (c Table) columns() []tabular.Column {
	return []tabular.Column{
		{Field: "source", Choice: c.Source, Usual: []string{"source", "src", "input", "question"}},
		{Field: "target", Choice: c.Target, Usual: []string{"target", "trg", "tgt", "output", "answer"}},
	}
}

// readFile reads all pairs of a file. It returns an error if the file is empty, or if none or fewer than half of its rows are usable.
func readFile(c Table, path string, report *Report) (pairs []pair, err error) {
	part := FileReport{Path: path}
	info, err := c.Layout.Read(path, c.columns(), func(r tabular.Row) { pairs = part.add(pairs, r, c) })
	part.Digest, part.Header = info.Digest, info.Header
	report.Files = append(report.Files, part)
	if err != nil {
		return nil, err
	}
	return pairs, part.check()
}

// add adds the pair of a row, or counts the row as malformed.
func (f *FileReport) add(pairs []pair, r tabular.Row, c Table) []pair {
	f.Lines++
	p, err := pair{}, r.Err
	if err == nil {
		p, err = parsePair(r.Fields[0], r.Fields[1], c)
	}
	if err != nil {
		f.skipped(r.Line, err.Error())
		return pairs
	}
	f.Usable++
	p.line = r.Line
	return append(pairs, p)
}

// parsePair splits both sides into tokens; the error says why the pair is malformed.
func parsePair(source, target string, c Table) (p pair, err error) {
	if p.source, err = tokens("source", source, c); err != nil {
		return pair{}, err
	}
	if p.target, err = tokens("target", target, c); err != nil {
		return pair{}, err
	}
	sum := sha256.Sum256([]byte(source))
	p.hash = binary.LittleEndian.Uint64(sum[:])
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
	return fmt.Sprintf("more than max_length %d: raise it", c.MaxLength)
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
