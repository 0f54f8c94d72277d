package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"universal-transformer/paper"
)

// A Verdict says how our measurement of a table or claim compares with the paper's.
type Verdict string

// The verdicts. Package tests check that the introduction of RESULTS.md explains each.
const (
	Reproduced    Verdict = "reproduced"
	Changed       Verdict = "reached with changes"
	Constructed   Verdict = "shown by construction"
	NotReproduced Verdict = "not reproduced"
	Contradicted  Verdict = "contradicted"
	NotComparable Verdict = "not comparable"
	NotRun        Verdict = "not run"
)

// A judgement is our figure, the verdict, and its reason.
type judgement struct {
	ours    string
	verdict Verdict
	why     string
	brief   string // ours for RESULTS.md; "": ours itself
	reason  string // why for RESULTS.md, in a few words; it may be ""
}

// A claim is a table or a statement of the paper, or a comparison that belongs to one. Its judge computes our figure and the verdict from
// the results.
type claim struct {
	where, what, paper string
	judge              func(book) judgement
	detail             bool // on the page of verdicts only, and counted in RESULTS.md
}

// detailed returns a claim that RESULTS.md counts, and only the page of verdicts lists.
func detailed(where, what, paper string, judge func(book) judgement) claim {
	return claim{where: where, what: what, paper: paper, judge: judge, detail: true}
}

// headline returns a claim that RESULTS.md lists, too.
func headline(where, what, paper string, judge func(book) judgement) claim {
	return claim{where: where, what: what, paper: paper, judge: judge}
}

const introduction = `# Results

The Universal Transformer (UT) of Dehghani et al. (2019), measured with this program: %[1]s.%[4]s

*Reached with changes* means that our figure reaches the paper's, but the model or its training differs from the paper's. *Not comparable* means that our data are too different, our runs too few for a test, or the task is not solved. *Shown by construction* means that tests build such a model and check it on finite inputs; nothing was trained. Single runs and differences marked † count in no comparison of models; † marks the difference from a model that was not trained alike. *Halting* is the UT with dynamic halting, which the program calls adaptive halting. *10k* and *1k* are 10,000 and 1,000 training questions per task; *single* is one model for each task, *joint* one model for all tasks. Our figures are computed from the result files in [%[2]s](%[2]s), one per training run, except where a text names docs/log.md. The paper's figures are copied from it. [%[3]s](%[3]s) has the reasons for all verdicts, with all figures and tests.

`

// tablesIntroduction stands between the verdicts and the tables of RESULTS.md.
const tablesIntroduction = `[%[2]s](%[2]s) lists the other %[1]d rows, too. The last row above is not a claim of the paper, and not counted. Each table follows in the paper's layout. Compared rows differ in the model and, in rows of equal time, in the number of updates. %[3]s The page of each table states this rule, what breaks it, and the searches. Models are called better or worse only where a test over seeds, or for bAbI over tasks, gives p < 0.05, corrected for the number of tests. The best seed is the best on validation data.

`

// verdictsPage is the page of the verdicts, below the folder of results.
const verdictsPage = "verdicts.md"

const verdictsIntroduction = `# Verdicts

All figures behind the verdicts of [RESULTS.md](../RESULTS.md), and their reasons: %s. Some rows concern the same runs. The last table has comparisons that the paper does not make, which are not counted.

`

// legend explains the verdicts.
const legend = `## What the verdicts mean

- **reproduced**: our figure reaches the paper's, rounded as the paper prints it, or to two decimals where it prints 1.0, or our measurements show what the paper claims, in every case where there are several.
- **reached with changes**: our figure reaches the paper's, but the model or its training differs from the paper's.
- **shown by construction**: a statement about what the model can compute; tests build such a model and check it on finite inputs. Nothing was trained.
- **not reproduced**: our figure is below the paper's, or we find no distinguishable difference where the paper has one.
- **contradicted**: no comparison is distinguishably better, and at least half of the tested ones are distinguishably worse; for claims without a test, most cases go the other way.
- **not comparable**: our data are too different, we have too few runs to compare models by tests over seeds, or no model solves the task in question. **not run**: we have no result.

Models are called better or worse only where a test over seeds, or for bAbI over tasks, gives p < 0.05, corrected by Holm's method for all tests of a block of a table, or of a claim where it has a measure of its own; otherwise they are "not distinguishable". A test over seeds needs at least two seeds of both models, and a deviation in one of them; without a test a difference counts in no verdict. Between one run each, the tables test over the test examples, which says nothing about other seeds: the model is "ahead" or "behind", and no verdict counts it. † marks the difference from a model that was not trained alike, which its table names as an exception; no verdict counts it, either. The best seed is the one with the lowest validation cross entropy, in table 1 with the fewest validation errors. Tables 1 and 4 to 6 are judged by best seeds, as the paper does for table 1, the others by means over seeds.
`

// verdicts writes the head of RESULTS.md, a line for each of the main tables and claims, and the page of all.
func (p *page) verdicts() {
	all := &page{book: p.book}
	tables, stated, further := p.book.judgeAll(tableClaims()), p.book.judgeAll(claims()), p.book.judgeAll(furtherClaims())
	counted := slices.Concat(tables, stated)
	all.printf(verdictsIntroduction, sum(counted))
	all.reasons("The tables", tables)
	all.reasons("The claims", stated)
	all.reasons("Further comparisons", further)
	all.printf(legend)
	p.files[verdictsPage] = all.text.Bytes()

	place := path.Join(p.folder, verdictsPage)
	p.printf(introduction, sum(counted), p.folder, place, p.book.transformerNote())
	p.lines("The tables", tables)
	p.lines("The claims", slices.Concat(stated, further))
	short := slices.DeleteFunc(slices.Clone(counted), func(c judged) bool { return c.detail })
	p.printf(tablesIntroduction, len(counted)-len(short), place, paper.RatesNote())
}

// transformerNote says how the paper's Transformer and ours do on bAbI. It returns "" without several comparisons of ours.
func (b book) transformerNote() string {
	j := judgeBabiModels("", "-transformer")(b)
	if j.brief == "" {
		return ""
	}
	var published []float64
	for _, s := range paper.BabiSettings {
		published = append(published, paper.PublishedBabi("babi-"+s.Name+"-transformer").Average)
	}
	low, high := extremes(published, func(v float64) float64 { return v })
	text := fmt.Sprintf(" On bAbI, the paper's Transformer has %.1f to %.1f %% errors. Our Transformer is trained like our UT. The UT is %s.", low, high, j.brief)
	if j.verdict == NotReproduced && j.reason != "" {
		text += " So the advantage that the paper reports there is not seen."
	}
	return text
}

// judged is a claim with the judgement on it.
type judged struct {
	claim
	judgement
}

func (b book) judgeAll(list []claim) (all []judged) {
	for _, c := range list {
		all = append(all, judged{c, c.judge(b)})
	}
	return all
}

// lines writes a table of claims for a first look, without those in detail.
func (p *page) lines(title string, list []judged) {
	p.head(title, "paper", "ours", "verdict")
	for _, c := range list {
		if c.detail {
			continue
		}
		verdict := string(c.verdict)
		if c.reason != "" {
			verdict += ": " + c.reason
		}
		p.row(c.where+": "+c.what, c.paper, cmp.Or(c.brief, c.ours, "-"), verdict)
	}
	p.printf("\n")
}

// reasons writes a table of claims with all that is known.
func (p *page) reasons(title string, list []judged) {
	p.head(title, "verdict", "paper", "ours", "why")
	for _, c := range list {
		p.row(c.where+": "+c.what, string(c.verdict), c.paper, cmp.Or(c.ours, "-"), c.why)
	}
	p.printf("\n")
}

// sum returns "of 43 rows on its tables and claims, 1 are reproduced, 2 reached with changes, ...".
func sum(list []judged) string {
	tally := map[Verdict]int{}
	for _, c := range list {
		tally[c.verdict]++
	}
	var texts []string
	for _, v := range []Verdict{Reproduced, Changed, Constructed, NotReproduced, Contradicted, NotComparable, NotRun} {
		text := fmt.Sprintf("%d %s", tally[v], v)
		if len(texts) == 0 {
			text = fmt.Sprintf("of %d rows on its tables and claims, %d are %s", len(list), tally[v], v)
		}
		texts = append(texts, text)
	}
	return and(texts)
}
