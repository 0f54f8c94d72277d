// Package tasktest checks that a task.Task fulfils the contract of its interface. The test of a task calls Run:
//
//	func TestTask(t *testing.T) {
//		opened, err := mine.Task{Length: 8}.Open()
//		if err != nil {
//			t.Fatal(err)
//		}
//		tasktest.Run(t, opened)
//	}
package tasktest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// count is the number of examples per check: a violation in one example of ten goes unnoticed less than once in 10^13 (0.9^300).
const count = 300

// checks lists the rules of every task. A check returns the first violation.
var checks = []struct {
	name  string
	check func(task.Task) error
}{
	{"examples are valid", validTraining},
	{"training is a function of seed and index", pure},
	{"the caller owns an example", owned},
	{"seeds differ", seedsDiffer},
	{"held-out is valid and deterministic", heldOut},
	{"held-out is not the training stream", checkDisjoint},
	{"a smaller count is a prefix", prefix},
	{"bad selections are refused", badSelections},
	{"hard cases, or a refusal", hardCases},
	{"text round trip", roundTrip},
	{"digests are deterministic", digests},
}

// Run checks a task, each rule in a subtest of t: determinism, order, ids, ends, lengths, held-out data.
func Run(t *testing.T, tk task.Task) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(tk); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// RunTagging checks a task whose targets have a class for each position of the source.
func RunTagging(t *testing.T, tk interface {
	task.Task
	task.Digester
}) {
	t.Helper()
	Run(t, tagging{tk, tk})
}

// tagging marks such a task.
type tagging struct {
	task.Task
	task.Digester
}

// Check returns an error if an example violates a rule of task.Example or of the task's vocabularies.
func Check(tk task.Task, e task.Example) error { return tk.Vocabularies().Check(kindOf(tk, e), e) }

// kindOf returns the kind of a task: its definition is not known here.
func kindOf(tk task.Task, e task.Example) task.Kind {
	if _, ok := tk.(tagging); ok {
		return task.Tagging
	}
	if tk.Vocabularies().Source == nil {
		return task.LanguageModeling
	}
	if _, longest := tk.MaxLengths(); longest == 1 && len(e.Target) == 1 && e.Target[0] != vocab.End {
		return task.Classification
	}
	return task.Transduction
}

func validTraining(tk task.Task) error {
	maxSource, maxTarget := tk.MaxLengths()
	for i := range int64(count) {
		e := tk.Training(1, i)
		if err := Check(tk, e); err != nil {
			return fmt.Errorf("Training(1, %d): %v", i, err)
		}
		if len(e.Source) > maxSource || len(e.Target) > maxTarget {
			return fmt.Errorf("Training(1, %d) has lengths %d, %d; MaxLengths says %d, %d", i, len(e.Source), len(e.Target), maxSource, maxTarget)
		}
	}
	return nil
}

// pure requests examples in both directions, to detect state kept between calls.
func pure(tk task.Task) error {
	forwards := training(tk, 2)
	for i := int64(count) - 1; i >= 0; i-- {
		if again := tk.Training(2, i); !equal(forwards[i], again) {
			return fmt.Errorf("Training(2, %d) is %v the first time and %v the second", i, forwards[i], again)
		}
	}
	return nil
}

func owned(tk task.Task) error {
	e := tk.Training(3, 5)
	want := task.Example{Source: slices.Clone(e.Source), Target: slices.Clone(e.Target)}
	clear(e.Source)
	clear(e.Target)
	if again := tk.Training(3, 5); !equal(want, again) {
		return fmt.Errorf("Training(3, 5) is %v, and %v after the caller wrote into it", want, again)
	}
	return nil
}

func seedsDiffer(tk task.Task) error {
	if slices.EqualFunc(training(tk, 4), training(tk, 5), equal) {
		return fmt.Errorf("seeds 4 and 5 give the same %d training examples", count)
	}
	return nil
}

func heldOut(tk task.Task) error {
	s := task.Selection{Count: count}
	once, err := tk.HeldOut(1, s)
	if err != nil {
		return err
	}
	if len(once) == 0 || len(once) > count {
		return fmt.Errorf("HeldOut of count %d has %d examples", count, len(once))
	}
	for i, e := range once {
		if err := Check(tk, e); err != nil {
			return fmt.Errorf("HeldOut[%d]: %v", i, err)
		}
	}
	twice, err := tk.HeldOut(1, s)
	if err != nil || !slices.EqualFunc(once, twice, equal) {
		return fmt.Errorf("HeldOut differs when asked again (error %v)", err)
	}
	return nil
}

// checkDisjoint checks that held-out examples are not training examples. It tolerates single collisions, as there are too few sources of
// length 1.
func checkDisjoint(tk task.Task) error {
	held, err := tk.HeldOut(1, task.Selection{Count: count})
	if err != nil {
		return err
	}
	trained := map[string]bool{}
	for _, e := range training(tk, 1) {
		trained[fmt.Sprint(e)] = true
	}
	same := 0
	for _, e := range held {
		if trained[fmt.Sprint(e)] {
			same++
		}
	}
	if same > len(held)/2 {
		return fmt.Errorf("%d of %d held-out examples are among the first %d training examples of the same seed", same, len(held), count)
	}
	return nil
}

func prefix(tk task.Task) error {
	long, err := tk.HeldOut(1, task.Selection{Count: 20})
	if err != nil {
		return err
	}
	short, err := tk.HeldOut(1, task.Selection{Count: 7})
	if err != nil {
		return err
	}
	if want := long[:min(7, len(long))]; !slices.EqualFunc(short, want, equal) {
		return fmt.Errorf("HeldOut of count 7 is %v, of count 20 begins with %v", short, want)
	}
	return nil
}

func badSelections(tk task.Task) error {
	type fields task.Selection // without String, which describes valid selections only
	for _, s := range []task.Selection{{Length: -1}, {Mix: -1}, {Count: -1}, {Length: 3, Mix: 3}} {
		if _, err := tk.HeldOut(1, s); err == nil {
			return fmt.Errorf("HeldOut accepts %+v", fields(s))
		}
	}
	return nil
}

// hardCases checks that a task has valid hard cases, or refuses a selection of them by the name of its field.
func hardCases(tk task.Task) error {
	const wanted = 8
	examples, err := tk.HeldOut(1, task.Selection{Hard: true, Count: wanted})
	var refused *task.SelectionError
	switch {
	case errors.As(err, &refused) && refused.Field == "hard":
		return nil
	case err != nil:
		return fmt.Errorf("HeldOut of hard cases returns %w, want a task.SelectionError of the field hard", err)
	case len(examples) == 0 || len(examples) > wanted:
		return fmt.Errorf("HeldOut of count %d with hard cases has %d examples", wanted, len(examples))
	}
	for i, e := range examples {
		if err := Check(tk, e); err != nil {
			return fmt.Errorf("HeldOut[%d] with hard cases: %v", i, err)
		}
	}
	return nil
}

// roundTrip reads back the text of examples.
func roundTrip(tk task.Task) error {
	v := tk.Vocabularies()
	for i, e := range training(tk, 1)[:50] {
		ids, of := e.Source, v.Source
		if of == nil {
			ids, of = e.Target, v.Target
		}
		text, other := v.Text(e)
		if v.Source == nil {
			text = other
		}
		tokens, err := v.Split(text)
		if err != nil {
			return err
		}
		again, err := of.Encode(tokens)
		if err != nil || !slices.Equal(again, slices.DeleteFunc(slices.Clone(ids), func(id vocab.ID) bool { return id == vocab.End || id == vocab.Padding })) {
			return fmt.Errorf("Training(1, %d): %v is %q, which is %v (error %v)", i, ids, text, again, err)
		}
	}
	return nil
}

func training(tk task.Task, seed uint64) []task.Example {
	examples := make([]task.Example, count)
	for i := range examples {
		examples[i] = tk.Training(seed, int64(i))
	}
	return examples
}

func equal(a, b task.Example) bool {
	return slices.Equal(a.Source, b.Source) && slices.Equal(a.Target, b.Target)
}

// digests returns an error if a task that reads data has other digests when asked again, or none of its training part.
func digests(tk task.Task) error {
	reads, ok := tk.(task.Digester)
	if !ok {
		return nil
	}
	first, second := reads.Digests(), reads.Digests()
	if first != second || first.Training == "" || first.Training == first.Test {
		return fmt.Errorf("digests are %+v, then %+v", first, second)
	}
	return nil
}

// Digests checks that a change of the files that a task reads changes the digests of exactly the given parts: "training", "validation",
// "test".
func Digests(t *testing.T, open func() (task.Task, error), change func(), parts ...string) {
	t.Helper()
	read := func() map[string]string {
		tk, err := open()
		if err != nil {
			t.Fatal(err)
		}
		d := tk.(task.Digester).Digests()
		return map[string]string{"training": d.Training, "validation": d.Validation, "test": d.Test}
	}
	before, again := read(), read()
	change()
	after := read()
	for part, digest := range before {
		if again[part] != digest {
			t.Errorf("%s: another digest of the same files", part)
		}
		if changed := after[part] != digest; changed != slices.Contains(parts, part) {
			t.Errorf("%s: the digest changes: %v", part, changed)
		}
	}
}
