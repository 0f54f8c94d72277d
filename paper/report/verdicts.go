package report

import (
	"cmp"
	"fmt"
)

// A Verdict says how our measurement of a table or claim compares with the paper's.
type Verdict string

// The verdicts. Package tests check that the introduction of RESULTS.md explains each.
const (
	Reproduced    Verdict = "reproduced"
	Changed       Verdict = "reached with changes"
	NotReproduced Verdict = "not reproduced"
	Contradicted  Verdict = "contradicted"
	NotComparable Verdict = "not comparable"
	NotRun        Verdict = "not run"
)

// A judgement is our figure, the verdict, and its reason in a few words.
type judgement struct {
	ours    string
	verdict Verdict
	why     string
}

// A claim is a table or a statement of the paper. Its judge computes our figure and the verdict from the results.
type claim struct {
	where, what, paper string
	judge              func(book) judgement
}

const introduction = `# Results

The Universal Transformer (UT) of Dehghani et al. (2019), measured with this program: %[2]s. Some rows concern the same runs. Every figure of ours in the tables below is computed from the result files in [%[1]s](%[1]s), one per training run; the paper's figures are copied from it. "Halting" is the UT with dynamic halting, which the program calls adaptive halting.

`

// legend explains the verdicts, below the tables that have them.
const legend = `- **reproduced**: our figure reaches the paper's, rounded as the paper prints it, or our measurement shows what the paper claims.
- **reached with changes**: our figure reaches the paper's, but the model or its training differs from the paper's.
- **not reproduced**: our figure is below the paper's, or we find no distinguishable difference where the paper has one.
- **contradicted**: some comparison is distinguishably worse and none better; for claims without a test, most cases go the other way.
- **not comparable**: our data are too different, we have too few runs for tests over seeds, or the model does not solve the task. **not run**: we have no result.

Models are called better or worse only where a test over seeds, or for bAbI over tasks, gives p < 0.05, corrected by Holm's method for all tests of a block of a table, or of a claim where it has a measure of its own; otherwise they are "not distinguishable". A test over seeds needs at least two seeds of both models, and a deviation in one of them; without a test a difference counts in no verdict. Between one run each, the tables test over the test examples, which says nothing about other seeds: the model is "ahead" or "behind", and no verdict counts it. † marks the difference from a model that was not trained alike, which its table names as an exception. The best seed is the one with the lowest validation cross entropy, in table 1 with the fewest validation errors. Tables 1 and 4 to 6 are judged by best seeds, as the paper does for table 1, the others by means over seeds.

`

// verdicts writes the head of RESULTS.md: a verdict on every table and every claim.
func (p *page) verdicts() {
	type part struct {
		title  string
		claims []claim
		found  []judgement
	}
	parts, tally := []part{{title: "The tables", claims: tableClaims()}, {title: "The claims", claims: claims()}}, map[Verdict]int{}
	for i := range parts {
		for _, c := range parts[i].claims {
			j := c.judge(p.book)
			parts[i].found = append(parts[i].found, j)
			tally[j.verdict]++
		}
	}
	p.printf(introduction, p.folder, sum(tally))
	for _, part := range parts {
		p.head(part.title, "verdict", "paper", "ours", "why")
		for i, c := range part.claims {
			j := part.found[i]
			p.row(c.where+": "+c.what, string(j.verdict), c.paper, cmp.Or(j.ours, "-"), j.why)
		}
		p.printf("\n")
	}
	p.printf(legend)
}

// sum returns "of the rows on its tables and claims, 6 are reproduced, 2 reached with changes, ...".
func sum(tally map[Verdict]int) string {
	var texts []string
	for _, v := range []Verdict{Reproduced, Changed, NotReproduced, Contradicted, NotComparable, NotRun} {
		text := fmt.Sprintf("%d %s", tally[v], v)
		if len(texts) == 0 {
			text = fmt.Sprintf("of the rows on its tables and claims, %d are %s", tally[v], v)
		}
		texts = append(texts, text)
	}
	return and(texts)
}
