package report

import (
	"fmt"
	"strings"

	"universal-transformer/paper"
)

// fromBothEnds is how the models of tables 5 and 6, and those of table 4 with our positions, differ from the paper's.
const fromBothEnds = "source positions counted from both ends"

// tableClaims lists the figures of the seven tables.
func tableClaims() (list []claim) {
	for _, s := range paper.BabiSettings {
		fixed, halting := paper.PublishedBabi("babi-"+s.Name), paper.PublishedBabi("babi-"+s.Name+"-adaptive")
		list = append(list, headline("Table 1", "bAbI, "+s.Title+": average error, %", fmt.Sprintf("%.2f, halting %.2f", fixed.Average, halting.Average),
			func(b book) judgement { return b.judgeBabi(s.Name) }))
	}
	return append(list,
		headline("Table 2", "subject-verb agreement, accuracy", "0.992, halting 0.992", judgeAgreement),
		headline("Table 3", "LAMBADA, perplexity of the test words", "319, halting 142", lambada("language", "last word perplexity", few, "-adaptive")),
		detailed("Table 3", "LAMBADA, perplexity, subwords of many novels, without and with a continuous cache", "319, Transformer 7321, LSTM 5174, without a cache",
			lambada("novels", "last word perplexity", many, "-transformer", "-lstm")),
		headline("Table 3", "LAMBADA, reading comprehension", "0.5216, halting 0.5625", lambada("reading", "accuracy", few, "-adaptive")),
		detailed("Table 3", "LAMBADA, reading, passages of many novels, from a language model", "0.5216, Transformer 0.3988, LSTM 0.2007",
			lambada("novels-pretrained", "accuracy", many, "-transformer", "-lstm")),
		headline("Table 4", "copy, reverse, addition at length 400, the paper's positions", publishedSequences(paper.Table4(), "algorithmic-paper"),
			reaches(paper.Table4(), NotReproduced, "", "algorithmic-paper", "algorithmic-paper", "algorithmic-paper")),
		headline("Table 4", "the same, our positions", publishedSequences(paper.Table4(), "algorithmic-paper"),
			reaches(paper.Table4(), Changed, fromBothEnds+", with random gaps in training, which were chosen by accuracy at length 400; heads, range and Muon chosen on lengths 60 to 100", "algorithmic", "algorithmic", "algorithmic")),
		headline("Table 5", "copy, double, reverse", publishedSequences(paper.Table5(), "memory"),
			reaches(paper.Table5(), Changed, fromBothEnds, "memory", "memory", "memory")),
		headline("Table 6", "program, control, addition", publishedSequences(paper.Table6(), "programs"),
			withLimits(reaches(paper.Table6(), Changed, fromBothEnds+"; trained with Muon", "programs", "programs", "programs"))),
		headline("Table 6", "the same, larger models", publishedSequences(paper.Table6(), "programs"),
			reaches(paper.Table6(), Changed, "one seed each of a larger model for program and of a fine-tuned one for control; shares of loops chosen with test accuracy known; "+fromBothEnds+"; trained with Muon; program: width 128; control: width 128 and six steps, fine-tuned from program, three quarters loops, 60 % of the greatest length; addition as above", "programs-wide", "programs-fine-tuned", "programs")),
		headline("Table 7", "translation, WMT 2014, BLEU", "28.9, Transformer 28.0", judgeWMT14),
	)
}

// judgeAgreement judges table 2, by the paper's measure or its substitute.
func judgeAgreement(b book) judgement {
	t := paper.Table2()
	own, _ := t.Row("agreement")
	if runs := b.of(own.Family, "verbs"); len(runs) > 0 {
		return reached(mean(sample(runs, "test", "total")), 0.992, "%.3f")
	}
	var ours []string
	for _, name := range []string{"forms", "natural-text", "enriched-text"} {
		if runs := b.of(own.Family, name); len(runs) > 0 {
			c, _ := t.Column(name)
			ours = append(ours, fmt.Sprintf("%.3f (%s)", mean(sample(runs, "test", "total")), c.Brief()))
		}
	}
	if len(ours) == 0 {
		return judgement{verdict: NotRun}
	}
	return judgement{ours: strings.Join(ours, ", "), verdict: NotComparable, reason: tenth, why: "the ranking has sentences with more attractors than the paper's, and the others have none without attractors; " + tenth}
}

// reached compares a figure with the paper's, rounded as the paper prints it.
func reached(ours, papers float64, format string) judgement {
	j := judgement{ours: fmt.Sprintf(format, ours), verdict: NotReproduced}
	if rounded(ours, format) >= rounded(papers, format) {
		j.verdict = Reproduced
	}
	return j
}

func rounded(v float64, format string) (r float64) {
	_, _ = fmt.Sscan(fmt.Sprintf(format, v), &r)
	return r
}

// few says why the first columns of table 3 are not comparable with the paper's.
const few = "trained on 0.87 million words; the paper has 203 million"

// many says the same of the columns of many novels.
const many = "trained on a part of 27 million words; the paper has 203 million"

// lambada returns the judge of a column of table 3: the means of a metric for the Universal Transformer and other models, in each set on which they
// are compared.
func lambada(column, metric, why string, others ...string) func(book) judgement {
	titles := map[string]string{"-adaptive": "halting", "-transformer": "Transformer", "-lstm": "LSTM"}
	c, _ := paper.Table3().Column(column)
	figures := c.ComparedFigures()
	return func(b book) judgement {
		var ours []string
		for _, f := range figures {
			var list []string
			for _, suffix := range append([]string{""}, others...) {
				if values := sample(b.of("lambada"+suffix, column), f.Set, metric); len(values) > 0 {
					list = append(list, strings.TrimSpace(fmt.Sprintf("%s "+format(metric, values), titles[suffix], mean(values))))
				}
			}
			if len(list) == 0 {
				continue
			}
			label := ""
			if len(figures) > 1 {
				label = cacheOf(f) + " "
			}
			ours = append(ours, label+strings.Join(list, ", "))
		}
		if len(ours) == 0 {
			return judgement{verdict: NotRun}
		}
		return judgement{ours: strings.Join(ours, "; "), verdict: NotComparable, why: why, brief: ours[len(ours)-1], reason: firstPhrase(why)}
	}
}

// cacheOf says whether the models of a figure of table 3 have a cache.
func cacheOf(f paper.Figure) string {
	if strings.HasSuffix(f.Set, paper.WithCache) {
		return "with cache"
	}
	return "without cache"
}

// publishedSequences returns the paper's sequence accuracies of a row.
func publishedSequences(t paper.Table, family string) string {
	row, _ := t.Row(family)
	var list []string
	for _, c := range t.Columns {
		list = append(list, publishedSequence(row, c))
	}
	return strings.Join(list, ", ")
}

// publishedSequence returns the figure in parentheses.
func publishedSequence(r paper.Row, c paper.Column) string {
	_, figure, _ := strings.Cut(strings.Join(r.Published[c.Name], ""), "(")
	return strings.TrimSuffix(figure, ")")
}

// reaches compares the sequence accuracies of a family per column with the paper's for the Universal Transformer.
func reaches(t paper.Table, whenChanged Verdict, how string, families ...string) func(book) judgement {
	published := t.Rows[0]
	for _, r := range t.Rows {
		if r.Own && r.Published != nil {
			published = r
		}
	}
	return func(b book) judgement {
		r := accuraciesReached{set: t.ShownSets("")[0].Name}
		for i, c := range t.Columns {
			if !r.add(b, families[i], c, publishedSequence(published, c)) {
				return judgement{verdict: NotRun}
			}
		}
		if sets := t.ShownSets(""); len(sets) > 1 { // the paper does not say which it means
			var others []string
			for i, c := range t.Columns {
				if a, ok := b.sequenceValue(families[i], c.Name, sets[1].Name); ok {
					others = append(others, fmt.Sprintf("%.3f", a.Value()))
				}
			}
			r.notes = append(r.notes, fmt.Sprintf("at %s %s", sets[1].Name, strings.Join(others, ", ")))
		}
		return r.judgement(whenChanged, how)
	}
}

// accuraciesReached compares accuracies in a set with the paper's, column by column.
type accuraciesReached struct {
	set           string
	ours          []string // our accuracies
	below, single []string // titles of columns below the paper's figure, and with one seed
	notes         []string // on rounding
}

// add compares a column with the paper's figure. It returns false if the column was not run.
func (r *accuraciesReached) add(b book, family string, c paper.Column, figure string) bool {
	a, ok := b.sequenceValue(family, c.Name, r.set)
	if !ok {
		return false
	}
	list, text := sequenceAccuracies(b.of(family, c.Name), r.set), fmt.Sprintf("%.3f", a.Value())
	if len(list) > 1 {
		text += fmt.Sprintf(" (mean %.3f)", mean(list))
	} else {
		r.single = append(r.single, c.Title)
	}
	r.ours = append(r.ours, text)
	if !reachesRounded(a.Value(), figure) {
		r.below = append(r.below, c.Title)
	}
	if note := roundingNotes(a.Value(), mean(list), figure); note != "" {
		r.notes = append(r.notes, c.Title+": "+note)
	}
	return true
}

// judgement returns the verdict on all columns: whenChanged if none is below the paper's figure.
func (r *accuraciesReached) judgement(whenChanged Verdict, how string) judgement {
	var why []string
	if how != "" {
		why = append(why, how)
	}
	j := judgement{ours: strings.Join(r.ours, ", "), verdict: Reproduced}
	switch {
	case len(r.below) > 0:
		j.verdict, j.reason = NotReproduced, "below in "+and(r.below)
		why = append(why, "below the paper in "+and(r.below))
	case whenChanged == Changed:
		j.verdict, j.reason = Changed, strings.Join(append([]string{firstPhrase(how)}, r.notes...), "; ")
	case how == "":
		why = append(why, "best seed, rounded to two decimals")
	}
	switch {
	case len(r.single) == len(r.ours):
		why = append(why, "1 seed each")
	case len(r.single) > 0:
		why = append(why, "1 seed in "+and(r.single))
	}
	j.why = strings.Join(append(why, r.notes...), "; ")
	return j
}

// firstPhrase returns a text up to its first comma or semicolon.
func firstPhrase(text string) string {
	if at := strings.IndexAny(text, ",;"); at >= 0 {
		return text[:at]
	}
	return text
}

// reachesRounded reports whether an accuracy reaches the paper's figure, rounded to its digits, or to two where the paper prints one: the other
// figures of such a column have more.
func reachesRounded(ours float64, figure string) bool {
	_, decimals, _ := strings.Cut(figure, ".")
	var papers float64
	_, _ = fmt.Sscan(figure, &papers)
	return rounded(ours, fmt.Sprintf("%%.%df", max(2, len(decimals)))) >= papers
}

// roundingNotes says what hangs on rounding or on the choice of the seed: "0.997 rounds to 1.0", "mean 0.592 is below 0.63". It returns "" if neither
// does.
func roundingNotes(best, mean float64, figure string) string {
	var notes []string
	var papers float64
	_, _ = fmt.Sscan(figure, &papers)
	if reachesRounded(best, figure) && rounded(best, "%.3f") < papers {
		notes = append(notes, fmt.Sprintf("%.3f rounds to %s", best, figure))
	}
	switch reached := reachesRounded(mean, figure); {
	case reachesRounded(best, figure) && !reached:
		notes = append(notes, fmt.Sprintf("mean %.3f is below %s", mean, figure))
	case reached && !reachesRounded(best, figure):
		notes = append(notes, fmt.Sprintf("mean %.3f reaches %s", mean, figure))
	}
	return strings.Join(notes, ", ")
}

// judgeWMT14 judges table 7, which was not run; our results are on smaller data.
func judgeWMT14(b book) judgement {
	j := judgement{verdict: NotRun, why: "about a day on an accelerator", reason: "needs an accelerator"}
	if ut, other := sample(b.of("translation", "multi30k"), "test_2016_flickr", "BLEU"), sample(b.of("translation-transformer", "multi30k"), "test_2016_flickr", "BLEU"); len(ut) > 0 && len(other) > 0 {
		j.ours = fmt.Sprintf("Multi30k instead: %s, Transformer %s", spread("%.2f", ut), spread("%.2f", other))
	}
	return j
}
