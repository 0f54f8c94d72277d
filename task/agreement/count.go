package agreement

import "io"

// CountNumpred returns the number of rows of a numpred file.
func CountNumpred(path string) (int, error) {
	rows, err := readNumpred(path)
	return len(rows), err
}

// CountDependencies returns the number of rows of the authors' table, including those that are not used.
func CountDependencies(path string) (int, error) {
	all, err := readFile(path, parseDependencies)
	return len(all.rows) + all.long + all.replaced + all.misplaced, err
}

// CountGold returns the number of verbs in a .gold file.
func CountGold(path string) (n int, err error) {
	_, err = readFile(path, func(name string, r io.Reader) (none struct{}, err error) {
		return none, eachLine(name, r, func(string) error { n++; return nil })
	})
	return n, err
}

// CountPairs returns the number of pairs in a .text file and the .gold file next to it, including those that are not used.
func CountPairs(path string) (int, error) {
	all, err := readGold(path)
	return len(all), err
}
