package table

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// maxTokens is the maximum length of a source or target of a file to evaluate on.
const maxTokens = 10_000

// Reader returns a function that reads files of pairs, source TAB target, for models with the given vocabularies. Its notes list
// malformed lines and the number of unknown tokens; if the vocabularies have no unknown token, an unknown token is an error that names
// the line.
func Reader(v task.Vocabularies) func(path string) ([]task.Example, []string, error) {
	return Table{}.fileReader(v)
}

// fileReader is like Reader, for files with the columns of the table. Files that do not have them, but two columns, are also read.
func (c Table) fileReader(v task.Vocabularies) func(path string) ([]task.Example, []string, error) {
	return func(path string) ([]task.Example, []string, error) {
		own, report, remarks := c, &Report{}, []string(nil)
		c := Table{SourceColumn: c.SourceColumn, TargetColumn: c.TargetColumn, Layout: c.ForOther(), Tokenizer: v.Tokenizer, MaxLength: max(maxTokens, c.MaxLength)}
		pairs, err := readFile(c, path, report)
		var missing *tabular.ColumnError
		if errors.As(err, &missing) && missing.Fields == 2 {
			c.SourceColumn, c.TargetColumn, report.Files = "", "", nil
			pairs, err = readFile(c, path, report)
			if err == nil && !report.Files[0].HasHeader() {
				remarks = []string{fmt.Sprintf("%v: the first column is read as sources, the second as targets, and the first row as a pair", missing)}
			}
		}
		if err != nil {
			return nil, nil, err
		}
		if v.Subwords != nil {
			if pairs, err = cutInto(v.Subwords, pairs, c, &report.Files[0]); err != nil {
				return nil, nil, err
			}
		}
		examples := make([]task.Example, len(pairs))
		for i, p := range pairs {
			if examples[i], err = encode(v, p, &report.Source, &report.Target); err != nil {
				return nil, nil, fmt.Errorf("%s: pair %d: %w", path, i+1, err)
			}
		}
		notes := append(remarks, strings.Split(report.Files[0].String(), "\n")...)
		notes = append(notes, tabular.RepeatedNote(pairs, own.trained(), hashOf, "sources")...)
		return examples, append(notes, append(report.Source.Lines("sources"), report.Target.Lines("targets")...)...), nil
	}
}

// encode encodes a pair, and records unknown tokens.
func encode(v task.Vocabularies, p pair, source, target *tabular.UnknownTokens) (e task.Example, err error) {
	if e.Source, err = ids(v.Source, p.source, source); err != nil {
		return e, fmt.Errorf("source: %w", err)
	}
	if e.Target, err = ids(v.Target, p.target, target); err != nil {
		return e, fmt.Errorf("target: %w", err)
	}
	e.Target, e.Origin = append(e.Target, vocab.End), p.origin
	return e, nil
}

func ids(v *vocab.Vocabulary, tokens []string, unknown *tabular.UnknownTokens) ([]vocab.ID, error) {
	if !v.HasUnknown() {
		return v.Encode(tokens)
	}
	note(v, tokens, unknown)
	ids, _ := v.EncodeLossy(tokens)
	return ids, nil
}
