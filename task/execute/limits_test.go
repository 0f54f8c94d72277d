package execute_test

import (
	"errors"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/execute"
)

// nested returns a program of so many operations, each of which continues the one before with the same text.
func nested(operations int, number, continued string) string {
	text := number
	for i := range operations {
		if i > 0 {
			text = "(" + text + ")"
		}
		text += continued
	}
	return text
}

// Programs are accepted exactly if the longest of them, and the largest product, can be evaluated.
// Caught when planted: no limit of the characters, or of the digits; parentheses that do not count; products of programs without them.
func TestLargestPrograms(t *testing.T) {
	nines := strings.Repeat("9", 1000)
	conditional := "if" + nines + "<" + nines + "else" + nines
	for _, c := range []struct {
		operations string
		nesting    int
		text, want string // want is the error; "" for none
	}{
		{execute.Control, 21, conditional, ""},
		{execute.Control, 22, conditional, "nesting is 22 and length is 1000: programs would have up to 67196 characters, more than 65536; lower one of them"},
		{execute.AllOperations, 9, "*" + nines, ""},
		{execute.AllOperations, 10, "*" + nines, "nesting is 10 and length is 1000: results would have up to 11000 digits, more than 10000; lower one of them"},
		{execute.Addition, 65, "+" + nines, "nesting is 65 and length is 1000: programs would have up to 66193 characters, more than 65536; lower one of them"},
		{execute.Addition, 64, "+" + nines, ""},
	} {
		err := execute.Program{Operations: c.operations, Nesting: c.nesting, Length: 1000}.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s, nesting %d: %v, want %q", c.operations, c.nesting, err, c.want)
		}
		if _, _, err := execute.EvaluateProgram(nested(c.nesting, nines, c.text)); (err != nil) != (c.want != "") {
			t.Errorf("%s, nesting %d is evaluated: %v", c.operations, c.nesting, err)
		}
	}
	p := execute.Program{Operations: execute.Control, Nesting: 22, Length: 5}
	var wrong *task.SelectionError
	for field, s := range map[string]task.Selection{"length": {Length: 1000, Count: 1}, "mix": {Mix: 1000, Count: 1}} {
		if _, err := opened(p).HeldOut(1, s); !errors.As(err, &wrong) || wrong.Field != field || wrong.Problem != "is 1000: programs would have up to 67196 characters, more than 65536; lower it" {
			t.Errorf("%s: %v", field, err)
		}
	}
	if examples, err := opened(p).HeldOut(1, task.Selection{Length: 900, Count: 1}); err != nil || len(examples) != 1 {
		t.Errorf("%d samples of 900 digits, %v", len(examples), err)
	}
}
