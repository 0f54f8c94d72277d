package paper

// UnequalBackend is an exception to the rule that compared rows are trained with the same options of the backend: the runs of a row in a column
// have other options than those of the Universal Transformer of its block or, where its backend is not recorded, than those of the block's first
// row with a recorded backend. Runs whose backend is not recorded do not count. A test compares the exceptions with the published results.
type UnequalBackend struct {
	Family, Column string
	Options        string // "float32", or those that round products, "products=bf16"; of several sessions separated by "; "
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
