package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// ReadPaired reads the paired tests below a folder of results strictly. There may be none.
func ReadPaired(root string) (list []measure.Paired, err error) {
	folder := filepath.Join(root, sweep.PairedFolder)
	files, err := jsonFiles(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		file := filepath.Join(folder, name)
		p, err := readPaired(file)
		if want := filepath.Join(root, p.File()); err == nil && file != want {
			err = fmt.Errorf("by its content, its name must be %s", want)
		}
		if err != nil {
			return nil, damaged(file, err, "remove the file, or repeat the test")
		}
		list = append(list, p)
	}
	return list, nil
}

// readPaired reads one test.
func readPaired(file string) (p measure.Paired, err error) {
	if err := readJSON(file, &p); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// addPaired adds tests. Each must be one of table 7, on the set by which its column is compared, and have the figures of the results of its runs.
func (b *book) addPaired(list []measure.Paired) error {
	for _, p := range list {
		if b.hasOther(p.Row, p) || b.hasOther(p.Baseline, p) {
			continue
		}
		if err := b.checkPaired(p); err != nil {
			return damaged(p.File(), err, "remove the file, or repeat the test")
		}
		b.paired = append(b.paired, p)
	}
	slices.SortFunc(b.paired, func(x, y measure.Paired) int {
		return cmp.Or(cmp.Compare(x.Baseline, y.Baseline), cmp.Compare(x.Seed, y.Seed))
	})
	return nil
}

// hasOther reports whether a side of a test was trained with other values than those of its recipe.
func (b *book) hasOther(family string, p measure.Paired) bool {
	return slices.ContainsFunc(b.others[family+"/"+p.Column], func(r run) bool { return r.Seed == p.Seed })
}

func (b *book) checkPaired(p measure.Paired) error {
	t := paper.Table7()
	row, known := t.Row(p.Baseline)
	column, has := t.Column(p.Column)
	switch own := ownRow(t).Family; {
	case p.Row != own || p.Baseline == own:
		return fmt.Errorf("row is %q and baseline %q: %s is compared with other rows", p.Row, p.Baseline, own)
	case !known || !has || !row.Has(p.Column):
		return fmt.Errorf("baseline is %q and column %q: table 7 has no such cell", p.Baseline, p.Column)
	case p.Set != column.ComparedFigures()[0].Set:
		return fmt.Errorf("set is %q: column %s is compared by %s", p.Set, p.Column, column.ComparedFigures()[0].Set)
	}
	if err := b.checkBLEU(p, p.Row, p.BLEU); err != nil {
		return err
	}
	return b.checkBLEU(p, p.Baseline, p.BaselineBLEU)
}

// checkBLEU returns an error unless the BLEU of one side of a test is that of its result.
func (b *book) checkBLEU(p measure.Paired, family string, bleu float64) error {
	runs := b.of(family, p.Column)
	at := slices.IndexFunc(runs, func(r run) bool { return r.Seed == p.Seed })
	if at < 0 {
		return fmt.Errorf("%s/%s has no result with seed %d", family, p.Column, p.Seed)
	}
	s := runs[at].measured.(*measure.Translation).Set(p.Set)
	if s == nil {
		return fmt.Errorf("the result of %s lacks %s", runs[at].Name(), p.Set)
	}
	if s.BLEU != bleu || s.Sentences != p.Sentences {
		return fmt.Errorf("%s has %v BLEU on %d sentences, its result %v on %d: the test is of another run or measurement",
			runs[at].Name(), bleu, p.Sentences, s.BLEU, s.Sentences)
	}
	return nil
}

// bootstrap returns one line with the paired tests of a column of table 7, or "" without any. They count in no verdict and no correction.
func (p *page) bootstrap(c paper.Column) string {
	var texts []string
	last := ""
	for _, d := range p.book.paired {
		if d.Column != c.Name {
			continue
		}
		row, baseline := "", ""
		if d.Baseline != last {
			row, baseline, last = d.Row+" ", d.Baseline+" ", d.Baseline
		}
		texts = append(texts, fmt.Sprintf("%s%.2f against %s%.2f (seed %d, %s)", row, d.BLEU, baseline, d.BaselineBLEU, d.Seed, bootstrapProbability(d)))
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s, sacreBLEU's paired bootstrap, of the seeds whose weights were kept, not corrected, about these sentences and runs, not about other seeds: %s.", c.Title, c.ComparedFigures()[0].Title, strings.Join(texts, ", "))
}

// bootstrapProbability formats the p-value of a paired test, which is at least one of the samples and one.
func bootstrapProbability(d measure.Paired) string {
	text := fmt.Sprintf("p = %.2g", d.P)
	if d.P*float64(d.Samples+1) < 1.5 {
		text += ", the smallest possible"
	}
	return text
}

// bootstrapDetails writes the paired tests of table 7.
func (p *page) bootstrapDetails(t paper.Table) {
	if len(p.book.paired) == 0 {
		return
	}
	p.printf("## Paired bootstrap over test sentences\n\nThe translations of two runs with the same seed, of %s and of the row compared with it, by paired bootstrap resampling (Koehn, 2004) as sacreBLEU "+
		"computes it: sentences are drawn with replacement, and p is the share of samples whose absolute difference exceeds the mean of all samples by more than the observed difference. The test is about the sentences of the test set: it says nothing about other seeds. "+
		"Its p-values are not corrected, and neither the verdicts nor the tests over seeds in RESULTS.md count them.\n\n", ownRow(t).Family)
	p.head("column", "set", "sentences", "compared with", "seed", "BLEU of "+ownRow(t).Family, "BLEU of the other", "difference", "p", "samples, their seed", "measured by")
	for _, c := range t.Columns {
		for _, d := range p.book.paired {
			if d.Column == c.Name {
				p.row(c.Name, d.Set, thousands(d.Sentences), d.Baseline, fmt.Sprint(d.Seed), fmt.Sprintf("%.2f", d.BLEU), fmt.Sprintf("%.2f", d.BaselineBLEU),
					fmt.Sprintf("%+.2f", d.Difference), fmt.Sprintf("%.4f", d.P), fmt.Sprintf("%s, %d", thousands(d.Samples), d.SamplesSeed), by(d.MeasuredBy))
			}
		}
	}
	p.printf("\n")
}
