package algorithmic_test

import (
	"math/big"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// Hard cases are right by big integers and plain strings, of the length that was asked for, all different where they can be, and as
// hard as their names say. Caught when planted: a sum whose first digits make base-1, so that nothing carries; targets that are not reversed.
func TestHardCases(t *testing.T) {
	for _, d := range []task.Definition{algorithmic.Copy{}, algorithmic.Reverse{}, algorithmic.Addition{}} {
		opened, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		cases := algorithmic.HardCases(d, 60, 30)
		if len(cases) != 3 {
			t.Fatalf("%s has %d hard cases", d, len(cases))
		}
		for _, c := range cases {
			for _, e := range c.Examples {
				source, target := opened.Vocabularies().Text(e)
				target = strings.TrimSuffix(target, "<end>")
				if len(source) != 60 {
					t.Errorf("%s, %s: the source has %d symbols", d, c.Name, len(source))
				}
				if want := answerOf(d, source); target != want {
					t.Errorf("%s, %s: %s -> %s, want %s", d, c.Name, source, target, want)
				}
				if strings.HasPrefix(c.Name, "a carry") && strings.Trim(target[:len(target)-1], "0") != "" {
					t.Errorf("no carry through all digits: %s -> %s", source, target)
				}
			}
		}
	}
	if algorithmic.HardCases(nil, 60, 30) != nil {
		t.Error("no task has hard cases")
	}
}

func answerOf(d task.Definition, source string) string {
	switch d.(type) {
	case algorithmic.Copy:
		return source
	case algorithmic.Reverse:
		return backwards(source)
	}
	x, y, _ := strings.Cut(source, "+")
	a, _ := new(big.Int).SetString(backwards(x), 10)
	b, _ := new(big.Int).SetString(backwards(y), 10)
	return backwards(a.Add(a, b).String())
}
