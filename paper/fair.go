package paper

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/quantity"
)

// PeakRates is the grid of peak learning rates from which a row chooses one on validation data.
var PeakRates = []float64{0.0003, 0.001, 0.003, 0.01, 0.03}

// Unequal is an exception to the rule of fair comparisons: fields of a run in which a row differs from the Universal Transformer of its
// block. The names of a model's fields leave its kind out: "model.pool". The rule allows differences in the model, in a peak rate of
// [PeakRates], and in the updates of a row of equal time. A test compares the exceptions with the recipes.
type Unequal struct {
	Fields []string // "training.steps"
	Why    string
}

// peakField is the field of a peak learning rate.
const peakField = "training.schedule.cosine.peak"

// Rule states the rule of fair comparisons, and which rows have a peak rate that was chosen by it.
func (t Table) Rule() string {
	rates := make([]string, len(PeakRates))
	for i, r := range PeakRates {
		rates[i] = fmt.Sprint(r)
	}
	last := len(rates) - 1
	text := "Compared rows differ in the model, and in the number of updates of a row of equal time. A row may also have a peak learning rate of its own, chosen on validation data from " +
		strings.Join(rates[:last], ", ") + " and " + rates[last] + "; "
	const own = "that of the Universal Transformer, which no search over all of these rates chose"
	switch len(t.Chosen) {
	case 0:
		text += "so far no row has one of its own"
	default:
		text += "those of the block \"" + strings.Join(t.Chosen, "\" and \"") + "\" were chosen so, each from the neighbouring rates that the [searches](#searches) list, and not from all five, with one seed; in the other blocks none was"
	}
	exceptions := t.Exceptions()
	others := slices.DeleteFunc(slices.Clone(exceptions), func(r Row) bool {
		return slices.Contains(t.Chosen, r.Block) || !slices.ContainsFunc(r.Unequal, func(u Unequal) bool { return slices.Contains(u.Fields, peakField) })
	})
	switch {
	case len(others) == 0:
		return text + ", and all have " + own
	case len(others) == len(exceptions):
		return text + "; the exceptions have others, and the other rows have " + own
	}
	return text + "; of the exceptions, these have others: " + strings.Join(t.Titles(others), "; ") + "; the other rows have " + own
}

// RatesNote says in which blocks of all tables the compared rows have peak rates that were chosen for each model, and what the others have.
func RatesNote() string {
	var blocks []string
	for _, t := range All() {
		if n := len(t.Chosen); n > 0 {
			blocks = append(blocks, fmt.Sprintf("%s of table %d", quantity.Regular(n, "blocks"), t.Number))
		}
	}
	const others = "the other models have the Universal Transformer's rate, unless a row is marked †."
	if len(blocks) == 0 {
		return "No peak learning rate was chosen for each model: " + others
	}
	return "Only in " + strings.Join(blocks, " and ") + " was the peak learning rate chosen for each model, on validation data; elsewhere " + others
}

// Exceptions returns the rows that break the rule of fair comparisons.
func (t Table) Exceptions() (rows []Row) {
	for _, r := range t.Rows {
		if len(r.Unequal) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// Titles returns the titles of some rows, each once. Where the table has other rows with the same title, it is followed by the names of the recipes'
// families: "LSTM with attention (algorithmic-lstm)".
func (t Table) Titles(rows []Row) (titles []string) {
	for _, r := range rows {
		same := func(list []Row) (families []string) {
			for _, x := range list {
				if x.Title == r.Title {
					families = append(families, x.Family)
				}
			}
			return families
		}
		title := r.Title
		if named := same(rows); len(named) < len(same(t.Rows)) {
			title += " (" + strings.Join(named, ", ") + ")"
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// Exceptions that several rows have.
var (
	lowerRate = Unequal{
		Fields: []string{"training.schedule.cosine.floor", "training.schedule.cosine.peak"},
		Why:    "the rates of models with attention are too high for LSTMs that Muon trains; both rates are older than the searches",
	}
	latePonder = Unequal{
		Fields: []string{"training.ponder.delay", "training.ponder.weight"},
		Why:    "they have an effect only with halting; with the cost of the authors' code from the start and at most six steps, task 19 was not learned. Its halting, too, differs from that of the other settings: at most four steps instead of six, and a bias of -3 instead of 1",
	}
	meanPool = Unequal{
		Fields: []string{"model.pool"},
		Why:    "the answer is read from the mean over all positions, as in the authors' code, not from the position of the question",
	}
)

// lowerPonder is a weight of the cost of halting below the authors'.
func lowerPonder(why string) Unequal {
	return Unequal{Fields: []string{"training.ponder.weight"}, Why: "it exists only with halting; " + why}
}

// unequalBackends lists every row and column whose runs have other options of the backend than the row that they are compared with. The runs of
// these rows are of a processor with AMX, and no row may be added.
var unequalBackends = slices.Concat(
	roundedProducts("memory", "double", "memory-lstm-longer", "memory-transformer-longer"),
	roundedProducts("memory-lstm", "copy", "memory-lstm-longer", "memory-transformer-longer"),
	roundedProducts("memory-lstm", "reverse", "memory-lstm-longer", "memory-transformer-longer"),
	roundedProducts("programs", "program", "programs-transformer-longer", "programs-adaptive"),
	roundedProducts("programs-lstm", "control", "programs-transformer-longer", "programs-adaptive"),
	roundedProducts("programs-lstm", "addition", "programs-lstm-longer", "programs-transformer-longer"),
)

// roundedProducts are the exceptions of families with products in bfloat16, compared with one of float32.
func roundedProducts(than, column string, families ...string) (list []UnequalBackend) {
	for _, f := range families {
		list = append(list, UnequalBackend{
			Family: f, Column: column, Options: "products=bf16", Than: than, ThanOptions: "float32",
			Why: "trained on a processor with AMX, with which products in bfloat16 take less time",
		})
	}
	return list
}
