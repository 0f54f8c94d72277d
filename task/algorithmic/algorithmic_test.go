package algorithmic_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/tasktest"
)

func TestConformance(t *testing.T) {
	for name, tk := range map[string]task.Task{
		"copy":              opened(algorithmic.Copy{}),
		"copy fixed":        opened(algorithmic.Copy{Digits: algorithmic.Digits{Base: 2, MaxLength: 30, Examples: 1000}}),
		"reverse":           opened(algorithmic.Reverse{Digits: algorithmic.Digits{Base: 36, MaxLength: 9}}),
		"reverse fixed":     opened(algorithmic.Reverse{Digits: algorithmic.Digits{Examples: 100_000}}),
		"addition":          opened(algorithmic.Addition{}),
		"addition binary":   opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: 2, MaxLength: 21}}),
		"addition smallest": opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: 36, MaxLength: 5, Examples: 500}}),
	} {
		t.Run(name, func(t *testing.T) { tasktest.Run(t, tk) })
	}
	tasktest.Files(t, algorithmic.Reverse{Digits: algorithmic.Digits{Base: 36}}, opened(algorithmic.Reverse{Digits: algorithmic.Digits{Base: 36}}), false)
	tasktest.Files(t, algorithmic.Addition{}, opened(algorithmic.Addition{}), false)
}

// texts is an example as people write it.
func texts(tk task.Task, e task.Example) (source, target string) {
	return strings.Join(tk.Vocabularies().Source.Decode(e.Source), ""), strings.Join(tk.Vocabularies().Target.Decode(e.Target), "")
}

// examples is n held-out examples and the first n training ones.
func examples(t *testing.T, tk task.Task, n int) []task.Example {
	t.Helper()
	all, err := tk.HeldOut(1, task.Selection{Count: n})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		all = append(all, tk.Training(1, i))
	}
	return all
}

func backwards(s string) string {
	bytes := []byte(s)
	slices.Reverse(bytes)
	return string(bytes)
}

func TestCopyAndReverse(t *testing.T) {
	for _, base := range []int{2, 10, 36} {
		for _, e := range examples(t, opened(algorithmic.Copy{Digits: algorithmic.Digits{Base: base}}), 200) {
			if source, target := texts(opened(algorithmic.Copy{Digits: algorithmic.Digits{Base: base}}), e); target != source {
				t.Fatalf("copy of %s is %s", source, target)
			}
		}
		for _, e := range examples(t, opened(algorithmic.Reverse{Digits: algorithmic.Digits{Base: base}}), 200) {
			if source, target := texts(opened(algorithmic.Reverse{Digits: algorithmic.Digits{Base: base}}), e); target != backwards(source) {
				t.Fatalf("%s reversed is %s", source, target)
			}
		}
	}
}

// TestAddition adds with math/big, which writes bases up to 36 with the same digits.
func TestAddition(t *testing.T) {
	for _, base := range []int{2, 3, 10, 36} {
		tk := opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: base}})
		for _, e := range examples(t, tk, 300) {
			source, target := texts(tk, e)
			first, second, found := strings.Cut(source, "+")
			if !found || strings.Contains(second, "+") {
				t.Fatalf("%s is no sum of two numbers", source)
			}
			total := new(big.Int)
			for _, operand := range []string{first, second} {
				n, ok := new(big.Int).SetString(backwards(operand), base)
				if !ok || backwards(n.Text(base)) != operand {
					t.Fatalf("base %d: operand %q of %s is no number, or has a leading zero", base, operand, source)
				}
				total.Add(total, n)
			}
			if want := backwards(total.Text(base)); target != want {
				t.Fatalf("base %d: %s is %s, want %s", base, source, target, want)
			}
		}
	}
}

// The separator has the id after the last digit's and is inside the vocabulary, where tensor2tensor's is not.
func TestSeparatorIsInTheVocabulary(t *testing.T) {
	v := opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: 7}}).Vocabularies().Source
	if id, ok := v.ID("+"); !ok || id != 9 || v.Size() != 10 {
		t.Errorf("separator has id %d (%v) of %d, want 9 of 10", id, ok, v.Size())
	}
	if v := opened(algorithmic.Copy{}).Vocabularies().Source; v.Size() != 12 || v.Token(2) != "0" || v.Token(11) != "9" {
		t.Errorf("decimal digits have ids %v", v.Tokens())
	}
}

// Lengths of Copy are uniform in 1..MaxLength: with 20,000 draws of 20 lengths, a count is 1000 with deviation
// 30.8; five deviations off at any length is a false alarm once in 80,000 seeds.
func TestCopyLengthsAreUniform(t *testing.T) {
	const n, limit = 20_000, 20
	counts := lengths(t, opened(algorithmic.Copy{}), task.Selection{Mix: limit, Count: n})
	for length := 1; length <= limit; length++ {
		if c := counts[length]; c < 1000-154 || c > 1000+154 {
			t.Errorf("length %d: %d of %d, want about 1000", length, c, n)
		}
	}
	if len(counts) != limit {
		t.Errorf("%d different lengths, want %d", len(counts), limit)
	}
}

func lengths(t *testing.T, tk task.Task, s task.Selection) map[int]int {
	t.Helper()
	held, err := tk.HeldOut(3, s)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for _, e := range held {
		counts[len(e.Source)]++
	}
	return counts
}

// Operand lengths of tensor2tensor for M = 6: first ~ U{1,2,3}, second ~ U{1..5-first}. So (1,1) has
// probability 1/3·1/4 and (3,2) 1/3·1/2; of 12,000 draws these are 1000 and 2000.
func TestAdditionOperandLengths(t *testing.T) {
	const n = 12_000
	tk := opened(algorithmic.Addition{})
	held, err := tk.HeldOut(5, task.Selection{Mix: 6, Count: n})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[[2]int]int{}
	for _, e := range held {
		at := slices.Index(e.Source, 12)
		counts[[2]int{at, len(e.Source) - at - 1}]++
	}
	for first := 1; first <= 3; first++ {
		for second := 1; second <= 5-first; second++ {
			want := float64(n) / 3 / float64(5-first)
			if got := float64(counts[[2]int{first, second}]); got < want*0.8 || got > want*1.2 { // over six deviations
				t.Errorf("operands of %d and %d digits: %v times, want about %v", first, second, got, want)
			}
			delete(counts, [2]int{first, second})
		}
	}
	if len(counts) > 0 {
		t.Errorf("operand lengths that should not be: %v", counts)
	}
}

func TestExactLengths(t *testing.T) {
	for _, tk := range []task.Task{opened(algorithmic.Copy{}), opened(algorithmic.Reverse{}), opened(algorithmic.Addition{})} {
		for _, n := range []int{3, 4, 41, 400} {
			if counts := lengths(t, tk, task.Selection{Length: n, Count: 50}); counts[n] != 50 {
				t.Errorf("%s of length %d has lengths %v", tk.Name(), n, counts)
			}
		}
	}
	for _, s := range []task.Selection{{Length: 2, Count: 1}, {Mix: 1, Count: 1}} {
		if _, err := opened(algorithmic.Addition{}).HeldOut(1, s); err == nil || !strings.Contains(err.Error(), "3 tokens") {
			t.Errorf("addition of %v: %v", s, err)
		}
	}
}

// A fixed training set is gone through once in every epoch, in different orders.
func TestFixedTrainingSet(t *testing.T) {
	const n = 500
	tk := opened(algorithmic.Reverse{Digits: algorithmic.Digits{MaxLength: 30, Examples: n}})
	epoch := func(k int64) []string {
		var sources []string
		for i := range int64(n) {
			source, _ := texts(tk, tk.Training(8, k*n+i))
			sources = append(sources, source)
		}
		return sources
	}
	first, second := epoch(0), epoch(1)
	if slices.Equal(first, second) {
		t.Error("two epochs have the same order")
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) {
		t.Error("two epochs do not have the same examples")
	}
	if different := len(slices.Compact(first)); different < n*9/10 {
		t.Errorf("the set of %d has %d different examples", n, different)
	}
}

// Lengths of a mix are uniform from its first to its last, in every task of this package.
// Caught when planted: lengths that end one too early; examples of a split that is not wanted.
func TestMixFrom(t *testing.T) {
	for _, tk := range []task.Task{opened(algorithmic.Copy{}), opened(algorithmic.Reverse{}), opened(algorithmic.Addition{})} {
		const n, from, to = 2000, 61, 64
		held, err := tk.HeldOut(1, task.Selection{Validation: true, From: from, Mix: to, Count: n})
		if err != nil {
			t.Fatal(err)
		}
		count := map[int]int{}
		for _, e := range held {
			count[len(e.Source)]++
			if task.SplitOf(e.Source) != task.ForValidation {
				t.Fatalf("%s: a source of another split", tk.Name())
			}
		}
		for length := from; length <= to; length++ {
			if c := count[length]; c < n/4-100 || c > n/4+100 { // 5 standard deviations
				t.Errorf("%s: %d of %d sources have length %d, want a quarter", tk.Name(), c, n, length)
			}
		}
		if _, err := tk.HeldOut(1, task.Selection{From: 2, Mix: 2}); (err == nil) != (tk.Name() != "addition") {
			t.Errorf("%s of two tokens: %v", tk.Name(), err)
		}
	}
}

func TestHeldOutHasADefaultSize(t *testing.T) {
	held, err := opened(algorithmic.Copy{}).HeldOut(1, task.Selection{})
	if err != nil || len(held) != 10_000 {
		t.Errorf("%d held-out examples, %v, want tensor2tensor's 10,000", len(held), err)
	}
}

func TestValidate(t *testing.T) {
	for want, err := range map[string]error{
		"base is 1":        algorithmic.Copy{Digits: algorithmic.Digits{Base: 1}}.Validate(),
		"base is 37":       algorithmic.Reverse{Digits: algorithmic.Digits{Base: 37}}.Validate(),
		"base is -2":       algorithmic.Addition{Digits: algorithmic.Digits{Base: -2}}.Validate(),
		"max_length is -1": algorithmic.Copy{Digits: algorithmic.Digits{MaxLength: -1}}.Validate(),
		"max_length is 2":  algorithmic.Addition{Digits: algorithmic.Digits{MaxLength: 2}}.Validate(),
		"examples is -1":   algorithmic.Reverse{Digits: algorithmic.Digits{Examples: -1}}.Validate(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, err := range []error{algorithmic.Copy{}.Validate(), algorithmic.Addition{Digits: algorithmic.Digits{Base: 36, MaxLength: 3}}.Validate(), algorithmic.Reverse{Digits: algorithmic.Digits{MaxLength: 1}}.Validate()} {
		if err != nil {
			t.Error(err)
		}
	}
	if source, target := opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: 2}}).MaxLengths(); source != 40 || target != 40 {
		t.Errorf("by default, sources have up to %d tokens and targets %d", source, target)
	}
}

// The first training example of seed 1 must stay what it is: results are told by seed.
func TestExamplesAreFrozen(t *testing.T) {
	for _, c := range []struct {
		tk   task.Task
		want string
	}{
		{opened(algorithmic.Copy{}), "9945674863327150635076345785325498199249 9945674863327150635076345785325498199249"},
		{opened(algorithmic.Reverse{Digits: algorithmic.Digits{Examples: 100_000}}), "7219222303178373908733 3378093738713032229127"},
		{opened(algorithmic.Addition{Digits: algorithmic.Digits{Base: 2, MaxLength: 12}}), "1001+1011 01101"},
	} {
		source, target := texts(c.tk, c.tk.Training(1, 0))
		if got := source + " " + target; got != c.want {
			t.Errorf("%s: first example is %q, want %q", c.tk.Name(), got, c.want)
		}
	}
}

// Checkpoints are chosen by other examples than those that measure them. At length 40 two of 10^40 strings do not meet by
// chance. Caught when planted: one stream for both.
func TestValidationIsNotEvaluation(t *testing.T) {
	for _, tk := range []task.Task{opened(algorithmic.Copy{}), opened(algorithmic.Reverse{}), opened(algorithmic.Addition{})} {
		seen := map[string]bool{}
		for _, validation := range []bool{true, false} {
			held, err := tk.HeldOut(1, task.Selection{Validation: validation, Length: 40, Count: 200})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range held {
				source, _ := texts(tk, e)
				if seen[source] {
					t.Fatalf("%s: %s is in both", tk.Name(), source)
				}
				seen[source] = true
			}
		}
	}
}

// opened is the task of a definition; those here have no data that could be missing.
func opened(d task.Definition) task.Task {
	tk, err := d.Open()
	if err != nil {
		panic(err)
	}
	return tk
}

// No string that there are many of is in two of training, validation and test, whatever the seed; and what is left over is counted.
// Caught when planted: a split by the seed, test strings drawn without a split, a count that leaves the short ones out.
func TestSplitBySource(t *testing.T) {
	for name, d := range map[string]task.Definition{"copy": algorithmic.Copy{Digits: algorithmic.Digits{MaxLength: 6}}, "reverse": algorithmic.Reverse{Digits: algorithmic.Digits{Base: 2, MaxLength: 16}}, "addition": algorithmic.Addition{Digits: algorithmic.Digits{MaxLength: 7}}} {
		tk := opened(d)
		few := func(source string) bool {
			digits := len(strings.ReplaceAll(source, "+", ""))
			return digits < map[string]int{"copy": 4, "reverse": 14, "addition": 4}[name]
		}
		trained, held, short := map[string]bool{}, map[bool]map[string]bool{}, 0
		for i := range int64(60_000) {
			source, _ := texts(tk, tk.Training(uint64(1+i%3), i))
			trained[source] = true
		}
		for _, validation := range []bool{true, false} {
			held[validation] = map[string]bool{}
			examples, err := tk.HeldOut(7, task.Selection{Validation: validation, Count: 3000})
			if err != nil {
				t.Fatal(err)
			}
			short = 0
			for _, e := range examples {
				source, _ := texts(tk, e)
				held[validation][source] = true
				if few(source) {
					short++
				} else if trained[source] || held[true][source] && !validation {
					t.Fatalf("%s: %s is in two splits", name, source)
				}
			}
			measured, err := d.Measure(tk.Vocabularies()).Measure(t.Context(), echo{}, examples)
			if want := fmt.Sprintf("%d of 3000 sources are so short", short); err != nil || !strings.HasPrefix(measured.Notes[0], want) || short == 0 {
				t.Errorf("%s: %q, %v, want %s", name, measured.Notes, err, want)
			}
		}
	}
}

// echo answers with the right answers.
type echo struct{ task.Model }

func (echo) Decode(_ context.Context, examples []task.Example) ([]task.Decoded, error) {
	answers := make([]task.Decoded, len(examples))
	for i, e := range examples {
		answers[i] = task.Decoded{Tokens: e.Target, Finished: true}
	}
	return answers, nil
}

func (echo) Method() string { return "echo" }
