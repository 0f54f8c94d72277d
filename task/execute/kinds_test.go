package execute

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
)

// Kinds are what their names say: operations as the evaluator finds them in the text, carries as adding column by column finds them;
// all are right, of the greatest length, and for the test.
func TestKinds(t *testing.T) {
	for _, p := range []Program{
		{Operations: AllOperations, Nesting: 2, Length: 5}, {Operations: Control, Nesting: 3, Length: 4}, {Operations: Addition, Nesting: 2, Length: 5},
		{Operations: Addition, Nesting: 1, Length: 7, LittleEndFirst: true},
	} {
		v := p.stream().ids
		cases := Kinds(p, 50)
		if len(cases) < 2 {
			t.Errorf("%v has %d kinds", p, len(cases))
		}
		for _, c := range cases {
			if len(c.Examples) != 50 {
				t.Errorf("%v, %s: %d examples", p, c.Name, len(c.Examples))
			}
			for _, e := range c.Examples {
				source, answer := text(v, e.Source), text(v, e.Target[:len(e.Target)-1])
				want, of, err := EvaluateProgram(source)
				if err != nil || p.written(want) != answer || of.Digits != p.Length || twentieths(source) != forTest {
					t.Fatalf("%s: %s = %s, want %s, %+v, %v", c.Name, source, answer, want, of, err)
				}
				checkKind(t, p, c, source, of.Operations)
			}
		}
	}
}

// Programs that are hardly ever drawn are no kind. Caught when planted: the nesting has no limit, and the test does not end.
func TestKindsOfDeepPrograms(t *testing.T) {
	var names []string
	for _, c := range Kinds(Program{Operations: AllOperations, Nesting: maxNesting, Length: 3}, 2) {
		names = append(names, c.Name)
	}
	if got, want := strings.Join(names, ", "), "nesting 1: +, nesting 1: -, nesting 1: *, nesting 1: if, nesting 1: for"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func checkKind(t *testing.T, p Program, c task.Case, source string, operations []string) {
	t.Helper()
	var least, most int
	if n, _ := fmt.Sscanf(c.Name, "carries %d to %d", &least, &most); n == 2 {
		if got := columnCarries(source); got < least || got > most {
			t.Errorf("%s: %s carries %d", c.Name, source, got)
		}
		return
	}
	var nesting int
	var op string
	if n, err := fmt.Sscanf(strings.TrimSuffix(c.Name, ", no *"), "nesting %d: %s", &nesting, &op); n != 2 {
		t.Fatalf("kind %q: %v", c.Name, err)
	}
	without := strings.HasSuffix(c.Name, "no *")
	if len(operations) != nesting || !slices.Contains(operations, op) || without && slices.Contains(operations, multiply) {
		t.Errorf("%s: %s has %q", c.Name, source, operations)
	}
}

// columnCarries adds the numbers of a sum column by column.
func columnCarries(source string) (carried int) {
	numbers := strings.Split(strings.NewReplacer("(", "", ")", "").Replace(source), "+")
	for column, carry := 0, 0; column < len(source); column++ {
		for _, n := range numbers {
			if column < len(n) {
				carry += int(n[len(n)-1-column] - '0')
			}
		}
		carry /= 10
		carried += carry
	}
	return carried
}

// Numbers have the lengths that the kinds are named after.
func TestKindsOfMemory(t *testing.T) {
	m := Memory{Operation: Double, Length: 55}
	for i, c := range Kinds(m, 20) {
		digits := []int{13, 27, 41}[i]
		for _, e := range c.Examples {
			if want := fmt.Sprintf("%d digits", digits); c.Name != want || len(e.Source) != digits || len(e.Target) != 2*digits+1 {
				t.Errorf("%s, want %s: %d digits, %d in the target", c.Name, want, len(e.Source), len(e.Target))
			}
		}
	}
	if cases := Kinds(Memory{Operation: Copy, Length: 2}, 1); len(cases) != 1 { // a quarter is no digit, a half and three quarters are one
		t.Errorf("numbers of two digits have %d kinds", len(cases))
	}
	if cases := Kinds(Script{}, 1); len(cases) != 0 {
		t.Errorf("scripts have %d kinds", len(cases))
	}
}
