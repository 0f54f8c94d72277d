package algorithmic_test

import (
	"math/big"
	"slices"
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
	if algorithmic.HardCases(algorithmic.Addition{}, 2, 1) != nil || algorithmic.HardCases(algorithmic.Copy{}, 0, 1) != nil {
		t.Error("there are hard cases of sources that are too short")
	}
	if algorithmic.HardCases(nil, 60, 30) != nil {
		t.Error("no task has hard cases")
	}
}

// Every second example of a selection with Hard is a hard case of the selected lengths, of each kind in turn, with the right answer; the
// others are those of the selection without it. Caught when planted: only the first kind; the kinds at every example; lengths as in training.
func TestHardSelection(t *testing.T) {
	isHard := map[string][3]func(source string) bool{
		"copy": {period(1), period(2), period(7)}, "reverse": {period(1), period(2), period(7)},
		"addition": {
			func(source string) bool {
				x, y, _ := strings.Cut(source, "+")
				for i := 1; i < len(x); i++ {
					if x[i]+y[i] != '0'+'9' {
						return false
					}
				}
				return x[0]+y[0] == '0'+'9'+1
			},
			func(source string) bool {
				x, y, _ := strings.Cut(source, "+")
				return min(len(x), len(y)) == 1
			},
			func(source string) bool {
				x, y, _ := strings.Cut(source, "+")
				return period(1)(x) && period(1)(y)
			},
		},
	}
	for _, d := range []task.Definition{algorithmic.Copy{}, algorithmic.Reverse{}, algorithmic.Addition{}} {
		opened, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []task.Selection{
			{Validation: true, From: 60, Mix: 100, Count: 60}, {Length: 71, Count: 60}, {Mix: 30, Count: 60},
		} {
			random, err := opened.HeldOut(3, s)
			if err != nil {
				t.Fatal(err)
			}
			s.Hard = true
			examples, err := opened.HeldOut(3, s)
			if err != nil || len(examples) != 60 {
				t.Fatalf("%d examples, %v", len(examples), err)
			}
			shortest := s.From
			if s.Length > 0 {
				shortest = s.Length
			}
			for i, e := range examples {
				source, target := opened.Vocabularies().Text(e)
				if n := len(source); n < shortest || n > max(s.Length, s.Mix) {
					t.Errorf("%s, %s: a source of %d symbols", d, s, n)
				}
				if want := answerOf(d, source); strings.TrimSuffix(target, "<end>") != want {
					t.Errorf("%s, %s: %s -> %s, want %s", d, s, source, target, want)
				}
				if i%2 == 0 && !slices.Equal(e.Source, random[i].Source) {
					t.Errorf("%s, %s: example %d is %s, without hard cases it is another", d, s, i, source)
				}
				if i%2 == 1 && !isHard[opened.Name()][i/2%3](source) {
					t.Errorf("%s, %s: example %d is %s, which is not of kind %d", d, s, i, source, i/2%3)
				}
			}
		}
	}
}

// Hard additions of every base and length are right by big integers, and no number of several digits has 0 as its most significant one.
// Caught when planted: the last digits of two equally long numbers drawn like the others; numbers of equal length in base 2.
func TestHardAdditionsHaveNoLeadingZero(t *testing.T) {
	for _, base := range []int{2, 3, 10, 36} {
		d := algorithmic.Addition{Digits: algorithmic.Digits{Base: base}}
		opened, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int{3, 4, 5, 6, 7, 8, 60, 61} {
			for _, c := range algorithmic.HardCases(d, length, 50) {
				for _, e := range c.Examples {
					source, target := opened.Vocabularies().Text(e)
					target = strings.TrimSuffix(target, "<end>")
					x, y, _ := strings.Cut(source, "+")
					if len(source) != length || len(x) > 1 && strings.HasSuffix(x, "0") || len(y) > 1 && strings.HasSuffix(y, "0") {
						t.Fatalf("base %d, %s: %s", base, c.Name, source)
					}
					a, first := new(big.Int).SetString(backwards(x), base)
					b, second := new(big.Int).SetString(backwards(y), base)
					if !first || !second || backwards(a.Add(a, b).Text(base)) != target {
						t.Fatalf("base %d, %s: %s -> %s", base, c.Name, source, target)
					}
					if strings.HasPrefix(c.Name, "a carry") && target != strings.Repeat("0", max(len(x), len(y)))+"1" {
						t.Fatalf("base %d, %s: no carry through all digits: %s -> %s", base, c.Name, source, target)
					}
				}
			}
		}
	}
}

// period returns whether a string repeats its first n symbols.
func period(n int) func(string) bool {
	return func(s string) bool { return len(s) <= n || s[n:] == s[:len(s)-n] }
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
