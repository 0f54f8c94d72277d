package table

import (
	"fmt"

	"universal-transformer/internal/tabular"
	"universal-transformer/subword"
)

// cut splits all pairs into subwords, given, learned from the training part or read from a file. Pairs that are too long count as malformed.
func (t *Task) cut(p *parts, report *Report) (err error) {
	if !t.given {
		t.subwords, err = t.config.Pieces(func(yield func(string) bool) {
			for _, pair := range p.training {
				if !yield(pair.source[0]) || !yield(pair.target[0]) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	last := len(report.Files) - 1
	for _, part := range []struct {
		pairs *[]pair
		file  int
	}{{&p.training, 0}, {&p.validation, 0}, {&p.evaluation, last}} {
		if *part.pairs, err = cutInto(t.subwords, *part.pairs, t.config, &report.Files[part.file]); err != nil {
			return err
		}
	}
	for _, file := range report.Files {
		if err := file.Check(wanted); err != nil {
			return err
		}
	}
	return p.check(t.config)
}

// cutInto splits pairs, and leaves out those with too many subwords on a side.
func cutInto(pieces *subword.Pieces, pairs []pair, c Table, report *tabular.Report) (kept []pair, err error) {
	for _, p := range pairs {
		whole := p
		if p.source, err = pieces.Split(whole.source[0]); err == nil {
			p.target, err = pieces.Split(whole.target[0])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", report.Path, p.line, err)
		}
		if n := max(len(p.source), len(p.target)); n > c.MaxLength {
			report.Usable--
			report.Skip(p.line, fmt.Sprintf("%d subwords, %s", n, c.limit()))
			continue
		}
		kept = append(kept, p)
	}
	return kept, nil
}
