package paper

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
)

// unequal lists every row that breaks the rule of fair comparisons, and the fields in which it does. No row may be added: a row that is
// compared with a Universal Transformer is trained like it.
var unequal = map[string]string{
	"babi-10k-joint-adaptive":         "training.ponder.delay training.ponder.weight",
	"babi-1k-single-renamed-adaptive": "model.pool",
	"agreement-lstm":                  "training.schedule.cosine.floor training.schedule.cosine.peak",
	"lambada-lstm":                    "training.schedule.cosine.floor training.schedule.cosine.peak",
	"algorithmic-lstm":                "model.dropout source_end task.addition.examples task.copy.examples task.reverse.examples training.label_smoothing training.muon training.schedule.cosine.peak training.steps",
	"algorithmic-lstm-plain":          "model.dropout source_end task.addition.examples task.copy.examples task.reverse.examples training.label_smoothing training.muon training.schedule.cosine.peak training.steps",
	"algorithmic-neural-gpu":          "model.dropout source_end task.addition.examples task.copy.examples task.reverse.examples training.label_smoothing training.muon training.schedule.cosine.peak training.steps",
	"algorithmic-alike-offset":        "model.counting.both_ends.separators model.counting.from_start model.positions.random_offset.max model.positions.random_runs.max",
	"programs-adaptive":               "training.ponder.weight",
	"translation-adaptive":            "training.ponder.weight",
	"translation-tiny": "training.accumulate training.batch.tokens training.beta2 training.muon training.schedule.cosine.floor training.schedule.cosine.peak " +
		"training.schedule.cosine.warmup training.schedule.inverse_square_root.factor training.schedule.inverse_square_root.warmup training.weight_decay",
}

// Compared rows differ in the model, in a peak rate of the grid, and in the updates of a row of equal time. Every exception is in the list
// above and, with its reason, on the page of its table. Caught when planted: weight decay of a Transformer alone; a peak of 0.002 in one
// row; twice the updates of a row that is not of equal time; an exception that no longer is one; dropout of a Transformer alone; an undeclared peak.
func TestComparisonsAreFair(t *testing.T) {
	found := map[string]string{}
	for _, table := range All() {
		for _, own := range table.Rows {
			for _, r := range table.Rows {
				if !own.Own || r.Block != own.Block || r.Family == own.Family {
					continue
				}
				differ := unfair(t, table, own, r)
				if len(differ) > 0 {
					found[r.Family] = strings.Join(differ, " ")
				}
				if declared := r.unequal(); !slices.Equal(declared, differ) {
					t.Errorf("%s differs from %s in %s; its page says %s", r.Family, own.Family, differ, declared)
				}
			}
		}
	}
	if !maps.Equal(found, unequal) {
		t.Errorf("the rows that break the rule are %v, want %v", found, unequal)
	}
}

// unequal returns the fields of a row's exceptions.
func (r Row) unequal() (fields []string) {
	for _, u := range r.Unequal {
		if u.Why == "" {
			fields = append(fields, "(without a reason)")
		}
		fields = append(fields, u.Fields...)
	}
	slices.Sort(fields)
	return fields
}

// unfair returns the fields in which a row breaks the rule in any of its columns.
func unfair(t *testing.T, table Table, own, r Row) (fields []string) {
	columns := 0
	for _, c := range table.Columns {
		if !own.Has(c.Name) || !r.Has(c.Name) {
			continue
		}
		columns++
		x, y := alike(values(t, Cell{own, c}), values(t, Cell{r, c}))
		if x[peak] != y[peak] && !slices.Contains(table.Chosen, own.Block) { // Rule says that no other row has one of its own
			fields = append(fields, peak)
		}
		fields = append(fields, violations(x, y, r.EqualTime)...)
	}
	if columns == 0 {
		t.Errorf("%s has no column of %s", r.Family, own.Family)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// The fields of a peak rate, and of a floor in proportion to it.
const peak, floor = "training.schedule.cosine.peak", "training.schedule.cosine.floor"

// violations returns the fields of two runs that differ although the rule does not allow it.
func violations(own, other map[string]any, equalTime bool) (fields []string) {
	all := maps.Clone(own)
	maps.Copy(all, other)
	for field := range all {
		switch {
		case own[field] == other[field], field == "name", strings.HasPrefix(field, "model.") && !trained(field), field == "training.steps" && equalTime && more(other[field], own[field]):
		case field == peak && inGrid(own[field]) && inGrid(other[field]), field == floor && scaled(own, other, floor, peak):
		default:
			fields = append(fields, field)
		}
	}
	return fields
}

// trained reports whether a field of a model is one of its training, which the rule of fair comparisons covers: where positions come from, how
// much is dropped, and which state a class is read from.
func trained(field string) bool {
	name := strings.TrimPrefix(field, "model.")
	return slices.ContainsFunc([]string{"dropout", "positions.", "counting.", "pool"}, func(part string) bool { return strings.HasPrefix(name, part) })
}

func inGrid(v any) bool {
	f, ok := v.(float64)
	return ok && slices.Contains(PeakRates, f)
}

func more(a, b any) bool {
	x, y := a.(float64)
	z, w := b.(float64)
	return y && w && x > z
}

// scaled reports whether a field follows another one, which may differ.
func scaled(own, other map[string]any, field, by string) bool {
	a, b := own[field], other[field]
	x, y := own[by], other[by]
	if a == nil || b == nil || !inGrid(x) || !inGrid(y) {
		return false
	}
	return math.Abs(a.(float64)/x.(float64)-b.(float64)/y.(float64)) < 1e-12
}

// values returns the fields of a cell's run by their paths.
func values(t *testing.T, c Cell) map[string]any {
	t.Helper()
	r, err := recipes.Named(c.Recipe())
	if err != nil {
		t.Fatal(err)
	}
	fields := r.Run().Fields()
	if from, ok := fields["training.pretrained"].(string); ok { // of the same row
		fields["training.pretrained"] = strings.Replace(from, "/"+c.Row.Family+"/", "/", 1)
	}
	return fields
}

// alike returns the fields of two runs in which models of any kind can be compared. The kind is left out, "model.pool" instead of
// "model.classifier.pool"; models of different kinds have one "model.dropout", the largest of any part, and no positions or counting, which
// LSTMs do not have.
func alike(x, y map[string]any) (map[string]any, map[string]any) {
	kinds := []string{kind(x), kind(y)}
	runs := []map[string]any{{}, {}}
	for i, fields := range []map[string]any{x, y} {
		largest := 0.0
		for field, v := range fields {
			rest, ok := strings.CutPrefix(field, kinds[i])
			switch name := "model." + rest; {
			case !ok:
				runs[i][field] = v
			case kinds[0] == kinds[1] || !trained(name) || strings.HasPrefix(rest, "pool"):
				runs[i][name] = v
			case strings.HasPrefix(rest, "dropout"):
				largest = max(largest, v.(float64))
			}
		}
		if kinds[0] != kinds[1] {
			runs[i]["model.dropout"] = largest
		}
	}
	return runs[0], runs[1]
}

// kind returns the part of the names of a model's fields that names its kind: "model.classifier.".
func kind(fields map[string]any) string {
	for field := range fields {
		if parts := strings.SplitN(field, ".", 3); len(parts) == 3 && parts[0] == "model" {
			return "model." + parts[1] + "."
		}
	}
	return "model."
}

// The rule itself, on runs written by hand: which differences are allowed.
func TestRule(t *testing.T) {
	own := map[string]any{"name": "a", "model.width": 64.0, "training.steps": 100.0, "training.muon": 0.95, "training.schedule.cosine.peak": 0.003, "training.schedule.cosine.floor": 0.0003}
	with := func(pairs ...any) map[string]any {
		m := maps.Clone(own)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	without := maps.Clone(own)
	delete(without, "training.muon")
	for i, c := range []struct {
		other     map[string]any
		equalTime bool
		want      string
	}{
		{with("name", "b", "model.width", 32.0, "model.lstm.layers", 1.0), false, ""},
		{with("training.schedule.cosine.peak", 0.01), false, ""},
		{with("training.schedule.cosine.peak", 0.01, "training.schedule.cosine.floor", 0.001), false, ""},
		{with("training.schedule.cosine.peak", 0.01, "training.schedule.cosine.floor", 0.002), false, "training.schedule.cosine.floor"},
		{with("training.schedule.cosine.peak", 0.002), false, "training.schedule.cosine.peak"},
		{with("training.steps", 200.0), true, ""},
		{with("training.steps", 200.0), false, "training.steps"},
		{with("training.steps", 50.0), true, "training.steps"},
		{with("training.label_smoothing", 0.1), true, "training.label_smoothing"},
		{without, false, "training.muon"},
		{with("models", 1.0), false, "models"},
	} {
		if got := strings.Join(violations(own, c.other, c.equalTime), " "); got != c.want {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
}

// The rule says which exceptions have other rates, by the titles of their rows. Where rows that are no exceptions have the title, the recipes follow.
// Caught when planted: exceptions with the peak of the Universal Transformer among those with others; a title twice.
func TestRuleNamesRates(t *testing.T) {
	ponder, rates := []Unequal{{Fields: []string{"training.ponder.weight"}}}, []Unequal{{Fields: []string{"training.muon"}}, {Fields: []string{"training.schedule.cosine.peak"}}}
	lstm, plain, halting := Row{Family: "a-lstm", Title: "LSTM", Unequal: rates}, Row{Family: "b-lstm", Title: "LSTM"}, Row{Family: "a-adaptive", Title: "Halting", Unequal: ponder}
	second := Row{Family: "b-adaptive", Title: "Halting", Unequal: ponder}
	const grid = "from 0.0003, 0.001, 0.003, 0.01 and 0.03; so far no row has one of its own"
	for want, rows := range map[string][]Row{
		grid + ", and all have that of the Universal Transformer, ":                                               {plain, halting},
		grid + "; the exceptions have others, and the other rows have that of the Universal Transformer, ":        {lstm, plain},
		grid + "; of the exceptions, these have others: LSTM (a-lstm); the other rows have that of the Universal": {lstm, plain, halting},
	} {
		if got := (Table{Rows: rows}).Rule(); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	searched := Table{Chosen: []string{"alike"}, Rows: []Row{lstm, {Family: "c-lstm", Title: "LSTM", Block: "alike", Unequal: rates}}}
	if got, want := searched.Rule(), "0.03; those of the block \"alike\" were chosen so, each from the neighbouring rates that the [searches](#searches) list, and not from all five, with one seed; in the other blocks none was; of the exceptions, these have others: LSTM"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	table := Table{Rows: []Row{lstm, halting, plain, second}}
	if got := strings.Join(table.Titles(table.Exceptions()), "; "); got != "LSTM (a-lstm); Halting" {
		t.Errorf("exceptions: %s", got)
	}
}
