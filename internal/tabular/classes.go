package tabular

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
	"universal-transformer/internal/quantity"
)

// manyClasses is a number of classes from which a file with nearly as many classes as rows is probably a mistake.
const manyClasses = 20

// TopClass returns the class with the highest count; of several, the one that is first in the alphabet.
func TopClass(count map[string]int) (top string) {
	for class, n := range count {
		if n > count[top] || n == count[top] && class < top {
			top = class
		}
	}
	return top
}

// CheckTrained returns an error if the training part, whose classes are counted, has fewer than two of those that the data have. what says
// what a class is, unit what has one, and need that two are needed: "label", "rows", "a classifier needs at least two labels".
func CheckTrained(what, unit, need string, trained map[string]int, classes []string) error {
	switch {
	case len(trained) > 1:
		return nil
	case len(classes) > 1:
		return fmt.Errorf("all %s for training have the %s %q, and only those held out have others, %q; lower task.held_out or add %s: %s",
			unit, what, TopClass(trained), others(classes, trained), unit, need)
	}
	return fmt.Errorf("all %s have the %s %q: %s", unit, what, classes, need)
}

// others lists the first classes that are not trained on.
func others(classes []string, trained map[string]int) []string {
	list := slices.DeleteFunc(slices.Clone(classes), func(class string) bool { return trained[class] > 0 })
	return list[:min(len(list), MaxListed)]
}

// CheckClasses returns an error if there are classes that a run has not been trained with. what says what a class is: "label".
func CheckClasses(what string, classes, trained []string) error {
	var others []string
	for _, class := range classes {
		if !slices.Contains(trained, class) {
			others = append(others, class)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("the data have %s that the run was not trained with, %q: leave these rows out, or start a new run", quantity.Regular(len(others), what+"s"), others[:min(len(others), MaxListed)])
}

// ClassNotes returns remarks on the classes of a number of rows: those that differ only in case, in Unicode form or in white space, and
// that most rows have a class of their own. what says what the classes are: "labels".
func ClassNotes(what string, classes []string, rows int) (notes []string) {
	first, pairs, alike := map[string]string{}, []string{}, 0
	for _, class := range classes {
		key := strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(class))), " ")
		before, known := first[key]
		if !known {
			first[key] = class
			continue
		}
		if alike++; alike <= MaxListed {
			pairs = append(pairs, fmt.Sprintf("%+q and %+q", before, class))
		}
	}
	if alike > 0 {
		notes = append(notes, fmt.Sprintf("%s that differ only in case, Unicode form or spaces are different ones: %s", what, strings.Join(pairs, ", ")))
	}
	if n := len(classes); n >= manyClasses && 2*n > rows {
		notes = append(notes, fmt.Sprintf("%d %s in %d rows: most rows have one of their own, so that nothing can be learned from the others; is it the right column?", n, what, rows))
	}
	return notes
}
