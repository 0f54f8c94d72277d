package bleu

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// version is the version of sacreBLEU in signatures.
const version = "2.6.0"

// Lines splits a text into lines as sacreBLEU reads files: only at U+000A, without white space at the right end of a line, including
// a carriage return. A newline at the end of the text does not begin another line.
func Lines(text string) ([]string, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %d is not valid UTF-8", len(lines)+1)
		}
		lines = append(lines, strings.TrimRightFunc(line, isSpace))
	}
	return lines, nil
}

// eachLine calls score with every hypothesis and its references. Their numbers must be equal.
func eachLine(hypotheses []string, references [][]string, score func(hypothesis string, references []string)) error {
	switch {
	case len(hypotheses) == 0:
		return errors.New("there are no lines to score")
	case len(references) == 0:
		return errors.New("there is no reference")
	}
	for r, reference := range references {
		if len(reference) != len(hypotheses) {
			return fmt.Errorf("reference %d has %d lines, the hypotheses %d: the numbers must be equal",
				r+1, len(reference), len(hypotheses))
		}
	}
	for i, hypothesis := range hypotheses {
		line := make([]string, len(references))
		for r := range references {
			line[r] = references[r][i]
		}
		score(hypothesis, line)
	}
	return nil
}

// columns returns the references of a single line in the form that Corpus takes.
func columns(references []string) [][]string {
	columns := make([][]string, len(references))
	for r := range references {
		columns[r] = references[r : r+1]
	}
	return columns
}

// commonReferences returns the number of references of two sets of lines, Varying if they differ. A set without lines is ignored.
func commonReferences(lines, references, otherLines, otherReferences int) int {
	switch {
	case lines == 0:
		return otherReferences
	case otherLines == 0 || references == otherReferences:
		return references
	}
	return Varying
}

// signature joins the parts that the signatures of both scores have in common, and the rest.
func signature(references int, lowercase, effective bool, rest string) string {
	count, letters, orders := fmt.Sprint(references), "mixed", "no"
	if references == Varying {
		count = "var"
	}
	if lowercase {
		letters = "lc"
	}
	if effective {
		orders = "yes"
	}
	return fmt.Sprintf("nrefs:%s|case:%s|eff:%s|%s|version:%s", count, letters, orders, rest, version)
}
