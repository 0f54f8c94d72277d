package paper

import (
	"slices"
	"strings"
)

// UnequalBackend is an exception to the rule that compared rows are trained with the same options of the backend: the runs of a row in a column
// have other options than those of the Universal Transformer of its block or, where its backend is not recorded, than those of the block's first
// row with a recorded backend. Runs whose backend is not recorded do not count. A test compares the exceptions with the published results.
type UnequalBackend struct {
	Family, Column string
	Options        string // see [BackendOptions]; several are separated by "; "
	Than           string // family of the row that it is compared with; its own if its runs differ from one another
	ThanOptions    string
	Why            string
}

// UnequalBackends returns the exceptions of a table, in the order of its rows and columns.
func (t Table) UnequalBackends() (list []UnequalBackend) {
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			for _, u := range unequalBackends {
				if u.Family == r.Family && u.Column == c.Name {
					list = append(list, u)
				}
			}
		}
	}
	return list
}

// BackendOptions returns what a recorded backend says about the numbers that it computes: "float32" or the options that round products,
// "products=bf16"; the name of a backend other than cpu; "" if the backend is not recorded. Kernels and threads only change the order of sums.
func BackendOptions(backend string) string {
	name, config, _ := strings.Cut(backend, ":")
	if name != "cpu" {
		name, _, _ = strings.Cut(name, " (")
		return name
	}
	var rounded []string
	for option := range strings.SplitSeq(config, ",") {
		if key, _, _ := strings.Cut(option, "="); key == "products" || key == "least" {
			rounded = append(rounded, option)
		}
	}
	if rounded == nil {
		return "float32"
	}
	slices.Sort(rounded)
	return strings.Join(rounded, ",")
}
