package tabular

import (
	"bufio"
	"io"
	"iter"
	"slices"
	"strings"
)

// Write writes rows as a tab-separated file of the given columns, in the form that a reader of l.ForOther() with these columns reads: a
// column that is chosen by number has its place, and a header is there if the configuration wants one or if the first row looks like one.
func (l Layout) Write(w io.Writer, columns []Column, rows iter.Seq[[]string]) error {
	buffered := bufio.NewWriter(w)
	first := true
	write := func(fields []string) {
		ordered := slices.Clone(fields)
		for i, at := range order(columns) {
			ordered[at] = clean.Replace(fields[i])
		}
		_, _ = buffered.WriteString(strings.Join(ordered, "\t") + "\n") // Flush returns the error
	}
	for fields := range rows {
		if first && (l.Header == Yes || l.Header == "" && usual(fields, columns)) {
			var names []string
			for _, c := range columns {
				names = append(names, c.Usual[0])
			}
			write(names)
		}
		first = false
		write(fields)
	}
	return buffered.Flush()
}

var clean = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// order returns the index of each column in a row: the numbers that were chosen, if all of these are places of the row; otherwise a reader
// takes the columns in their order.
func order(columns []Column) []int {
	chosen, usual := make([]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		usual[i], chosen[i] = i, i
		if n, numbered := c.number(); numbered {
			chosen[i] = n - 1
		}
	}
	if sorted := slices.Sorted(slices.Values(chosen)); slices.Equal(sorted, usual) {
		return chosen
	}
	return usual
}
