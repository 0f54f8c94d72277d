package agreement

import "io"

// CountNumpred is how many rows a numpred file has.
func CountNumpred(path string) (int, error) {
	rows, err := readNumpred(path)
	return len(rows), err
}

// CountDependencies is how many rows the authors' table has, those that are left out included.
func CountDependencies(path string) (int, error) {
	all, err := readFile(path, parseDependencies)
	return len(all.rows) + all.long + all.replaced + all.misplaced, err
}

// CountGold is how many verbs a file of them has.
func CountGold(path string) (n int, err error) {
	_, err = readFile(path, func(name string, r io.Reader) (none struct{}, err error) {
		return none, eachLine(name, r, func(string) error { n++; return nil })
	})
	return n, err
}

// CountPairs is how many pairs a file of sentences and the one of verbs beside it have, those that are left out included.
func CountPairs(path string) (int, error) {
	all, err := readGold(path)
	return len(all), err
}
