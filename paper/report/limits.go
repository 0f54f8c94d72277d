package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// maximumSet is the test set of tables 5 and 6 at the maximum length and nesting.
const maximumSet = "maximum"

// A limit is the operation that limits a column of table 6.
type limit struct {
	column, operation, noun string
	kind, single            string // sets with the operation: of two operations and of one
}

var (
	ofProgram = limit{"program", "*", "product", "nesting 2: *", "nesting 1: *"}
	ofControl = limit{"control", "for", "loop", "nesting 2: for", "nesting 1: for"}
)

// limited is what is known of a run of a limited column: its accuracies at the maximum and on a kind of programs that all have the operation, and
// how many programs of both have it.
type limited struct {
	run
	row           paper.Row
	maximum, kind score.Accuracy
	tests         measure.ProgramTests
}

// addTests counts the test programs of table 6 by the operations that limit its columns.
func (b *book) addTests() error {
	b.limited = map[string][]limited{}
	for _, l := range []limit{ofProgram, ofControl} {
		for _, row := range paper.Table6().Rows {
			for _, r := range b.of(row.Family, l.column) {
				maximum, kind := r.set(maximumSet), r.set(l.kind)
				if maximum == nil || kind == nil {
					continue
				}
				tests, err := measure.CountPrograms(r.Recipe, l.operation, l.kind, maximum.Examples, kind.Examples)
				if err != nil {
					return fmt.Errorf("%s: %w", r.File(), err)
				}
				b.limited[l.column] = append(b.limited[l.column], limited{r, row, maximum.Decoded.Sequences, kind.Decoded.Sequences, tests})
			}
		}
	}
	return nil
}

// learned returns the share of right answers among those of the kind that depend on the operation. All programs whose conditional discards it count
// as right.
func (l limited) learned() float64 {
	return float64(max(0, l.kind.Correct-l.tests.Kind.Discarded())) / float64(max(1, l.tests.Kind.Dependent))
}

// right estimates how many programs with the operation are right at the maximum: those that discard it, and of the others as large a share as of
// the kind's.
func (l limited) right() float64 {
	return float64(l.tests.Maximum.Discarded()) + l.learned()*float64(l.tests.Maximum.Dependent)
}

// others estimates the share of right answers at the maximum among programs without the operation.
func (l limited) others() float64 {
	return (float64(l.maximum.Correct) - l.right()) / float64(max(1, l.tests.Maximum.Programs-l.tests.Maximum.With))
}

// errors estimates the share of wrong answers at the maximum that are to programs with the operation.
func (l limited) errors() float64 {
	return (float64(l.tests.Maximum.With) - l.right()) / float64(max(1, l.maximum.Total-l.maximum.Correct))
}

// ceiling estimates the accuracy at the maximum if all programs without the operation were right.
func (l limited) ceiling() float64 {
	return (float64(l.tests.Maximum.Programs-l.tests.Maximum.With) + l.right()) / float64(max(1, l.tests.Maximum.Programs))
}

// without returns the accuracy at the maximum of a model that has all answers right but those that depend on the operation.
func without(tests measure.ProgramTests) float64 {
	return float64(tests.Maximum.Programs-tests.Maximum.Dependent) / float64(max(1, tests.Maximum.Programs))
}

// needed returns the share of the answers that depend on the operation which a model with all others right must have right to reach an accuracy at
// the maximum.
func needed(tests measure.ProgramTests, accuracy float64) float64 {
	return (accuracy - without(tests)) / (1 - without(tests))
}

// withOrder returns the runs whose answers begin with their first digit, or those that begin with their last.
func withOrder(list []limited, lastDigitFirst bool) (some []limited) {
	for _, l := range list {
		if l.tests.LastDigitFirst == lastDigitFirst {
			some = append(some, l)
		}
	}
	return some
}

// selectedOf returns the run of a row that the table shows.
func selectedOf(list []limited, family string) (l limited, ok bool) {
	own := ofFamily(list, family)
	if len(own) == 0 {
		return l, false
	}
	return slices.MinFunc(own, func(x, y limited) int { return byValidation(x.run, y.run) }), true
}

// ofFamily returns the runs of a row, by seed.
func ofFamily(list []limited, family string) []limited {
	own := slices.DeleteFunc(slices.Clone(list), func(x limited) bool { return x.family != family })
	slices.SortFunc(own, func(x, y limited) int { return cmp.Compare(x.Seed, y.Seed) })
	return own
}

// fractions returns a figure of every run: "0.893, 0.755 and 0.019".
func fractions(list []limited, of func(limited) float64) string {
	var texts []string
	for _, l := range list {
		texts = append(texts, fmt.Sprintf("%.3f", of(l)))
	}
	return and(texts)
}

// extremes returns the smallest and the largest value of a list that is not empty.
func extremes[T any](list []T, of func(T) float64) (low, high float64) {
	low, high = of(list[0]), of(list[0])
	for _, x := range list {
		low, high = min(low, of(x)), max(high, of(x))
	}
	return low, high
}

// limitsNote says what models without products and without loops have at most: "without products at most 0.668 of program is right". It returns ""
// without results.
func (b book) limitsNote() string {
	var parts []string
	for _, l := range []limit{ofProgram, ofControl} {
		if list := withOrder(b.limited[l.column], false); len(list) > 0 {
			parts = append(parts, fmt.Sprintf("without %ss at most %.3f of %s is right", l.noun, without(list[0].tests), l.column))
		}
	}
	return strings.Join(parts, ", ")
}

// withLimits adds to a judgement on table 6 what limits program and control.
func withLimits(judge func(book) judgement) func(book) judgement {
	return func(b book) judgement {
		j := judge(b)
		if note := b.limitsNote(); note != "" && j.verdict != NotRun {
			j.why += "; " + note
		}
		return j
	}
}
