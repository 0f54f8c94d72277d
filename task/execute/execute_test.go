package execute_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/execute"
	"universal-transformer/task/tasktest"
)

// definitions are tasks of every kind, at the paper's sizes and at small ones.
var definitions = []task.Definition{
	execute.Memory{Operation: "copy", Length: 55},
	execute.Memory{Operation: "double", Length: 55},
	execute.Memory{Operation: "reverse", Length: 9},
	execute.Program{Operations: "program", Nesting: 2, Length: 5},
	execute.Program{Operations: "control", Nesting: 2, Length: 5},
	execute.Program{Operations: "addition", Nesting: 2, Length: 5},
	execute.Program{Operations: "program", Nesting: 4, Length: 2, LittleEndFirst: true},
	execute.Script{Nesting: 3, Length: 4},
	execute.Script{Nesting: 10, Length: 1, LittleEndFirst: true},
}

// title tells definitions apart.
func title(d task.Definition) string { return fmt.Sprintf("%#v", d) }

// opened is the task of a definition; those here have no data that could be missing.
func opened(d task.Definition) task.Task {
	if err := d.Validate(); err != nil {
		panic(err)
	}
	tk, err := d.Open()
	if err != nil {
		panic(err)
	}
	return tk
}

func TestConformance(t *testing.T) {
	for _, d := range definitions {
		t.Run(title(d), func(t *testing.T) {
			tasktest.Run(t, opened(d))
			tasktest.Files(t, d, opened(d), false)
		})
	}
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// truth computes a source from its text, apart from the code that drew it.
func truth(d task.Definition, source string) (string, error) {
	switch d := d.(type) {
	case execute.Memory:
		return map[string]string{"copy": source, "double": source + source, "reverse": backwards(source)}[d.Operation], nil
	case execute.Program:
		answer, _, err := execute.EvaluateProgram(source)
		if d.LittleEndFirst {
			answer = backwards(answer)
		}
		return answer, err
	case execute.Script:
		answer, _, err := execute.EvaluateScript(source)
		if d.LittleEndFirst {
			answer = backwards(answer)
		}
		return answer, err
	}
	panic("no such task")
}

// Every pair is what the evaluator makes of its text, and no longer than MaxLengths says. UT_EXECUTE_PAIRS asks for more of each
// task than 4000. Caught when planted: k+1 for k in a loop, a comparator turned around, the modulus of the largest length.
func TestPairsAreRight(t *testing.T) {
	n := 4000
	if given, err := strconv.Atoi(os.Getenv("UT_EXECUTE_PAIRS")); err == nil {
		n = given
	}
	for _, d := range definitions {
		tk := opened(d)
		check := func(e task.Example) {
			source, target := tk.Vocabularies().Text(e)
			if want, err := truth(d, source); err != nil || target != want {
				t.Fatalf("%s: %s gives %s, want %s (%v)", title(d), source, target, want, err)
			}
		}
		maxSource, maxTarget := tk.MaxLengths()
		for i := range int64(n) {
			e := tk.Training(9, i)
			if len(e.Source) > maxSource || len(e.Target) > maxTarget {
				t.Fatalf("%s: lengths %d, %d, of at most %d, %d", title(d), len(e.Source), len(e.Target), maxSource, maxTarget)
			}
			check(e)
		}
		for _, sel := range []task.Selection{{Length: 7, Count: n / 10}, {Mix: 3, Count: n / 10}, {Validation: true, Count: n / 10}} {
			for _, e := range held(t, tk, sel) {
				check(e)
			}
		}
	}
}

func held(t *testing.T, tk task.Task, sel task.Selection) []task.Example {
	t.Helper()
	examples, err := tk.HeldOut(3, sel)
	if err != nil {
		t.Fatal(err)
	}
	return examples
}

// The longest sources of the paper's sizes, of the reference's notes on Sonnet: 19 characters of addition, 51 of the others.
func TestMaxLengths(t *testing.T) {
	for _, c := range []struct {
		d              task.Definition
		source, target int
	}{
		{execute.Program{Operations: "addition", Nesting: 2, Length: 5}, 19, 7},
		{execute.Program{Operations: "control", Nesting: 2, Length: 5}, 51, 7},
		{execute.Program{Operations: "program", Nesting: 2, Length: 5}, 51, 7},
		{execute.Memory{Operation: "double", Length: 55}, 55, 111},
		{execute.Memory{Operation: "reverse", Length: 55}, 55, 56},
	} {
		tk := opened(c.d)
		source, target := tk.MaxLengths()
		longest := 0
		for _, e := range held(t, tk, task.Selection{Length: 5, Count: 500}) {
			longest = max(longest, len(e.Source))
		}
		if source != c.source || target != c.target || c.source < 55 && longest != source {
			t.Errorf("%s: %d, %d, longest found %d; want %d, %d", title(c.d), source, target, longest, c.source, c.target)
		}
	}
}

// No source that there are many of is in two of training, validation and test. Caught when planted: scripts drawn without a
// split, a count that leaves out numbers of four digits.
func TestSplitBySource(t *testing.T) {
	for _, c := range []struct {
		d   task.Definition
		few func(source string) bool
	}{
		{execute.Memory{Operation: "reverse", Length: 6}, func(source string) bool { return len(source) <= 4 }},
		{execute.Program{Operations: "addition", Nesting: 2, Length: 3}, func(source string) bool {
			first, _, _ := strings.Cut(strings.Trim(source, "("), "+")
			return len(first) == 1 || len(first) == 2 && !strings.Contains(source, "(") // 81, 729, 8100; 90^3 are enough
		}},
		{execute.Program{Operations: "control", Nesting: 1, Length: 2}, func(source string) bool {
			return strings.Contains(source, "for") && len(source) == len("x=1for[2]x+=3") // 729; 13,122 choices are enough
		}},
		{execute.Script{Nesting: 2, Length: 3}, func(string) bool { return false }},
	} {
		tk := opened(c.d)
		seen := [3]map[string]bool{{}, {}, {}}
		for i := range int64(40_000) {
			source, _ := tk.Vocabularies().Text(tk.Training(uint64(i%3), i))
			seen[0][source] = true
		}
		for use, validation := range []bool{true, false} {
			examples, few := held(t, tk, task.Selection{Validation: validation, Count: 3000}), 0
			for _, e := range examples {
				source, _ := tk.Vocabularies().Text(e)
				seen[use+1][source] = true
				if c.few(source) {
					few++
				} else if seen[0][source] || use == 1 && seen[1][source] {
					t.Fatalf("%s: %s is in two splits", title(c.d), source)
				}
			}
			measured, err := c.d.Measure(tk.Vocabularies()).Measure(t.Context(), student{}, examples)
			if err != nil {
				t.Fatal(err)
			}
			if few == 0 {
				if len(measured.Notes) > 0 {
					t.Errorf("%s: %q", title(c.d), measured.Notes)
				}
			} else if want := fmt.Sprintf("%d of 3000 sources are so short", few); len(measured.Notes) == 0 || !strings.HasPrefix(measured.Notes[0], want) {
				t.Errorf("%s: %q, want %s", title(c.d), measured.Notes, want)
			}
		}
	}
}

// student answers rightly but where it fails.
type student struct {
	task.Model
	fails func(i int) bool
}

func (s student) Decode(_ context.Context, examples []task.Example) ([]task.Decoded, error) {
	answers := make([]task.Decoded, len(examples))
	for i, e := range examples {
		answers[i] = task.Decoded{Tokens: e.Target, Finished: true}
		if s.fails != nil && s.fails(i) {
			answers[i].Tokens = e.Target[1:]
		}
	}
	return answers, nil
}

func (student) Method() string { return "a student" }

// The mix: lengths and nestings are uniform, together, and so are operations; k and the comparators too. Every count of 40,000
// stays within six deviations: of less than 60 counts one is outside in 10^7 seeds. Caught when planted: a nesting of at
// most the length, k of 1..8.
func TestMixIsUniform(t *testing.T) {
	const n = 40_000
	tk := opened(execute.Program{Operations: "program", Nesting: 2, Length: 5})
	counts, single := map[string]int{}, 0
	operations := 0
	loops, choices := 0, 0
	for _, e := range held(t, tk, task.Selection{Count: n}) {
		source, _ := tk.Vocabularies().Text(e)
		_, of, err := execute.EvaluateProgram(source)
		if err != nil {
			t.Fatal(err)
		}
		counts[fmt.Sprintf("level %d %d", of.Digits, len(of.Operations))]++
		if len(of.Operations) == 1 {
			single++
			counts["only "+of.Operations[0]]++
		}
		for _, op := range of.Operations {
			operations++
			counts["operation "+op]++
		}
		for rest := source; strings.Contains(rest, "for["); loops++ {
			_, rest, _ = strings.Cut(rest, "for[")
			counts["k "+rest[:1]]++
		}
		less, greater := strings.Count(source, "<"), strings.Count(source, ">")
		choices += less + greater
		counts["less"] += less
	}
	within := func(what string, of int, p float64) {
		t.Helper()
		got, mean, deviation := float64(counts[what]), float64(of)*p, math.Sqrt(float64(of)*p*(1-p))
		if math.Abs(got-mean) > 6*deviation {
			t.Errorf("%s: %v of %d, want %.0f ± %.0f", what, got, of, mean, deviation)
		}
		delete(counts, what)
	}
	for length := 1; length <= 5; length++ {
		for nesting := 1; nesting <= 2; nesting++ {
			within(fmt.Sprintf("level %d %d", length, nesting), n, 0.1)
		}
	}
	for _, op := range []string{"+", "-", "*", "if", "for"} {
		within("only "+op, single, 0.2)
		within("operation "+op, operations, 0.2)
	}
	for k := 1; k <= 9; k++ {
		within(fmt.Sprintf("k %d", k), loops, 1./9)
	}
	within("less", choices, 0.5)
	if len(counts) > 0 {
		t.Errorf("what should not be: %v", counts)
	}
}

// Numbers at length 3 are uniform in 100..999: each first digit ninth, each last digit tenth, within six deviations of 20,000
// (a false alarm in 10^7 seeds). Lengths of Memory's mix are uniform likewise.
func TestNumbersAreUniform(t *testing.T) {
	const n = 20_000
	tk := opened(execute.Memory{Operation: "copy", Length: 20})
	first, last, lengths := map[byte]int{}, map[byte]int{}, map[int]int{}
	for i, e := range held(t, tk, task.Selection{Length: 6, Count: n}) {
		source, _ := tk.Vocabularies().Text(e)
		if len(source) != 6 {
			t.Fatalf("source %d is %s", i, source)
		}
		first[source[0]]++
		last[source[5]]++
	}
	for _, e := range held(t, tk, task.Selection{Count: n}) {
		lengths[len(e.Source)]++
	}
	far := func(got int, p float64) bool {
		return math.Abs(float64(got)-n*p) > 6*math.Sqrt(n*p*(1-p))
	}
	for d := byte('0'); d <= '9'; d++ {
		if d == '0' && first[d] > 0 || d > '0' && far(first[d], 1./9) || far(last[d], 0.1) {
			t.Errorf("digit %c: %d times first, %d times last", d, first[d], last[d])
		}
	}
	for length := 1; length <= 20; length++ {
		if far(lengths[length], 1./20) {
			t.Errorf("length %d: %d of %d", length, lengths[length], n)
		}
	}
}

// Scripts at nesting 1 and length 3: six operations alike, told by their text; the share of numbers below 100 is 0.099, and of
// 1000 a thousandth. The split by hash touches single programs only: with lengths of 3 the commonest, an equality, is one of 6000.
// Six deviations, so a false alarm in 10^7 seeds, and the hash moves each by less than one.
func TestScriptOperations(t *testing.T) {
	const n = 24_000
	tk := opened(execute.Script{Nesting: 1, Length: 3})
	counts := map[string]int{}
	for _, e := range held(t, tk, task.Selection{Length: 3, Count: n}) {
		source, _ := tk.Vocabularies().Text(e)
		switch {
		case strings.Contains(source, ";"):
			counts["variable"]++
		case strings.Contains(source, "for"):
			counts["loop"]++
		case strings.Contains(source, "if"):
			counts["if"]++
		case strings.Contains(source, "*"):
			counts["product"]++
		case strings.Contains(source, "(("):
			counts["pair"]++
		default:
			counts["equality"]++
		}
	}
	for _, kind := range []string{"variable", "loop", "if", "product", "pair", "equality"} {
		if got := float64(counts[kind]); math.Abs(got-n/6) > 7*math.Sqrt(n*5./36) {
			t.Errorf("%s: %v of %d, want %d", kind, got, n, n/6)
		}
	}
}

// The worked examples of the notes on both generators, computed there by other programs, and the example that the paper's
// appendix prints.
func TestWorkedExamples(t *testing.T) {
	for source, want := range map[string]string{
		"57032+41187":                         "98219",
		"(57032+41187)+10009":                 "108228",
		"10007-99990":                         "910017",
		"99812*98765":                         "932180",
		"(99812-13579)*98765":                 "802245",
		"(31415+92653)if40404<39999else77777": "77777",
		"(12345if67890>54321else11111)if22222<33333else44444": "12345",
		"x=(57032+41187)for[9]x+=83004":                       "845255",
		"x=(x=98765for[9]x+=87654)for[9]x+=99999":             "787642",
		"7-9": "98",
		"x=(57032if40404<39999else41187)for[9]x+=83004": "788223",
	} {
		if got, _, err := execute.EvaluateProgram(source); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		"print((4821+936))":                           "5757",
		"print((57-3140))":                            "-3083",
		"print(((618-59)*7))":                         "3913",
		"c=742;\nprint((c-1268))":                     "-526",
		"a=305#for x in range(6):a+=48#print((a-77))": "516",
		"h=90#for x in range(11):h-=27#print(h)":      "-207",
		"print((731 if 208>645 else 519))":            "519",
		"e=((364+91) if 512<487 else 850)#for x in range(3):e-=126#print((e*4))": "1888",
		"j=8584\nfor x in range(8):\n  j+=920\nb=(1500+j)\nprint((b+7567))":      "25011",
		"j=8584#for x in range(8):j+=920#b=(1500+j);#print((b+7567))":            "25011",
	} {
		if got, _, err := execute.EvaluateScript(source); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", source, got, err, want)
		}
	}
	for operation, want := range map[string]string{"copy": "4070", "double": "40704070", "reverse": "0704"} {
		if got := fromFile(t, execute.Memory{Operation: operation, Length: 5}, "4070"); got != want {
			t.Errorf("%s of 4070 is %s, want %s", operation, got, want)
		}
	}
}

// fromFile is the target that a file with one source gives.
func fromFile(t *testing.T, d task.Definition, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sources")
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := opened(d).Vocabularies()
	examples, _, err := d.Reader(v).File(path)
	if err != nil {
		return err.Error()
	}
	_, target := v.Text(examples[0])
	return target
}

// Errors name the first character that cannot be; all are one line.
func TestReaderSaysWhere(t *testing.T) {
	program, control := execute.Program{Operations: "program", Nesting: 2, Length: 5}, execute.Program{Operations: "control", Nesting: 2, Length: 5}
	script := execute.Script{Nesting: 3, Length: 4}
	for _, c := range []struct {
		d          task.Definition
		text, want string
	}{
		{program, "", "empty"},
		{program, "12", `character 3: the program ends where "+", "-", "*" or "if" should be`},
		{program, "12+x", `character 4: 'x' where a number should be`},
		{program, "12+1", "character 4: a number of 1 digits after one of 2"},
		{program, "02+12", "character 1: a number does not begin with 0"},
		{program, "12+34+56", `character 6: '+' where the end should be`},
		{program, "(12+34", `character 7: the program ends where ")" should be`},
		{program, "12if34=56else78", `character 7: '=' where "<" or ">" should be`},
		{program, "12if34<56elze78", `character 12: 'z' where "se" should be`},
		{program, "x=12for[0]x+=34", "character 9: '0' where one of 1..9 should be"},
		{program, "12+ö", "character 4: 'ö'"},
		{program, "12+\xff", "character 4"},
		{control, "x=(12+34)for[5]x+=67", `character 6: "+" is not an operation of the task control`},
		{execute.Memory{Operation: "copy", Length: 5}, "12a", "character 3: 'a' where the end should be"},
		{execute.Memory{Operation: "copy", Length: 5}, "0", "character 1"},
		{script, "k=3#print(k)", "character 1: 'k' where a variable of a..j"},
		{script, "a=3#print(b)", "character 11: b has no value yet"},
		{script, "a=3#for x in range(4):a+=a#print(a)", "character 26: a is the variable that the loop changes"},
		{script, "a=3;print(a)", `character 5: 'p' where "#" should be`},
		{script, "a=3#", "character 5: the program ends where"},
		{script, "print(3+4)", `character 8: '+' where ")" should be`},
		{program, strings.Repeat("(", 200), "character 101: more than 100 nested parentheses"},
		{program, strings.Repeat("1", 1001) + "+1", "character 1: a number of 1001 digits"},
		{program, strings.Repeat("1", 1<<17), "at most 65536 characters"},
		{script, "a=" + strings.Repeat("9", 900) + "#" + strings.Repeat("a=(a*a)#", 30) + "print(a)", "more than 10000 digits"},
	} {
		v := opened(c.d).Vocabularies()
		_, err := c.d.Reader(v).Read(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
	for _, d := range definitions {
		tk := opened(d)
		for i := range int64(200) {
			e := tk.Training(4, i)
			source, target := tk.Vocabularies().Text(e)
			in, err := d.Reader(tk.Vocabularies()).Read(source)
			if err != nil || !slices.Equal(in.Source, e.Source) {
				t.Fatalf("%s: %s is read as %v, %v", title(d), source, in, err)
			}
			if got := fromFile(t, d, source+"\t"+target); i < 20 && got != target {
				t.Fatalf("%s: %s from a file has %s, want %s", title(d), source, got, target)
			}
		}
	}
	if got := fromFile(t, program, "12+34\t47"); !strings.Contains(got, `sources:1: the answer is "47": it must be 46`) {
		t.Error(got)
	}
}

// Figures by operation and nesting, counted by hand: of 12+34, 12*34 and (12*34)if56<78else90 the last two are wrong.
func TestMeasure(t *testing.T) {
	d := execute.Program{Operations: "program", Nesting: 2, Length: 2}
	path := filepath.Join(t.TempDir(), "sources")
	if err := os.WriteFile(path, []byte("12+34\n12*34\n(12*34)if56<78else90\n99-11\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := opened(d).Vocabularies()
	examples, _, err := d.Reader(v).File(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Measure(v).Measure(t.Context(), student{fails: func(i int) bool { return i == 1 || i == 2 }}, examples)
	if err != nil || got.Method != "a student" || len(got.Answers) != 4 || got.Answers[2].Correct || !got.Answers[3].Correct {
		t.Fatalf("%+v, %v", got, err)
	}
	want := map[string][2]int{
		"sequence accuracy": {2, 4}, "sequence accuracy with +": {1, 1}, "sequence accuracy with -": {1, 1}, "sequence accuracy with *": {0, 2},
		"sequence accuracy with if": {0, 1}, "sequence accuracy at nesting 1": {2, 3}, "sequence accuracy at nesting 2": {0, 1},
	}
	for _, m := range got.Metrics[1:] {
		if have := [2]int{m.Accuracy.Correct, m.Accuracy.Total}; have != want[m.Name] {
			t.Errorf("%s is %v, want %v", m.Name, have, want[m.Name])
		}
		delete(want, m.Name)
	}
	if note := "2 of 2 wrong answers (100.0 %) are to programs with a product; 2 of all 4 programs have one"; len(want) > 0 || !slices.Contains(got.Notes, note) {
		t.Errorf("missing %v; notes %q", want, got.Notes)
	}
}

func TestValidate(t *testing.T) {
	for want, d := range map[string]task.Definition{
		`operation "cpoy" is not known: did you mean "copy"?`:        execute.Memory{Operation: "cpoy", Length: 5},
		`operation "sort" is not known`:                              execute.Memory{Operation: "sort", Length: 5},
		`operation "" is not known; there are copy, double, reverse`: execute.Memory{Length: 5},
		`length is 0`: execute.Memory{Operation: "copy"},
		`operations "adition" is not known: did you mean "addition"?`: execute.Program{Operations: "adition", Nesting: 2, Length: 5},
		`nesting is 0`:                    execute.Program{Operations: "control", Length: 5},
		`length is 1001`:                  execute.Program{Operations: "control", Nesting: 2, Length: 1001},
		`nesting is 11: it must be 1..10`: execute.Script{Nesting: 11, Length: 4},
		`length is -1`:                    execute.Script{Nesting: 3, Length: -1},
	} {
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, d := range definitions {
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
	}
	if _, err := opened(definitions[3]).HeldOut(1, task.Selection{From: 2, Mix: 3, Count: 1}); err == nil || !strings.Contains(err.Error(), "from is 2") {
		t.Errorf("numbers of at least two digits: %v", err)
	}
	for field, s := range map[string]task.Selection{"length": {Length: 1001, Count: 1}, "mix": {Mix: 1001, Count: 1}} {
		var wrong *task.SelectionError
		if _, err := opened(definitions[3]).HeldOut(1, s); !errors.As(err, &wrong) || wrong.Field != field || !strings.Contains(wrong.Problem, "is 1001: ") {
			t.Errorf("numbers of 1001 digits: %v, want an error about %s", err, field)
		}
	}
	// A program has up to 100 + 100 (7 + 300) + 198 = 30,998 characters, and 100 million are the maximum. Caught when planted: the digits of a
	// number count.
	deep := opened(execute.Program{Operations: "control", Nesting: 100, Length: 50})
	if _, err := deep.HeldOut(1, task.Selection{Length: 100, Count: 3500}); err == nil || !strings.Contains(err.Error(), "3500 examples of up to ") || !strings.Contains(err.Error(), "lower count") {
		t.Errorf("too many long programs: %v", err)
	}
	if notes := opened(execute.Program{Operations: "addition", Nesting: 1, Length: 1, LittleEndFirst: true}).Notes(); len(notes) != 2 || !strings.Contains(notes[1], "last digit") {
		t.Errorf("notes %q", notes)
	}
}

// Training programs with operations of their own have these, equally often or half of them loops, within the longest source; validation
// and test programs are those of the same task without. Caught when planted: the set of training for all splits; the task's own for training;
// the longest source of training operations alone; loops as often as the others.
func TestTrainingOperations(t *testing.T) {
	const third, eighth = 1. / 3, 1. / 8
	for set, shares := range map[string]map[string]float64{
		execute.AdditionAndControl: {"+": third, "if": third, "for": third},
		execute.AdditionAndLoops:   {"+": 0.25, "if": 0.25, "for": 0.5},
		execute.ControlAndLoops:    {"if": 0.25, "for": 0.75},
		execute.ProgramAndLoops:    {"+": eighth, "-": eighth, "*": eighth, "if": eighth, "for": 0.5},
		execute.ProgramAndProducts: {"+": eighth, "-": eighth, "*": 0.5, "if": eighth, "for": eighth},
	} {
		t.Run(set, func(t *testing.T) { testTrainingOperations(t, set, shares) })
	}
}

// Of training programs, and only of these, the share that is asked for has the greatest nesting and length, besides those of the mix.
// Caught when planted: the share in validation; length alone.
func TestTrainingLongest(t *testing.T) {
	plain := execute.Program{Operations: execute.Control, Nesting: 2, Length: 3}
	long := plain
	long.TrainingLongest = 0.6
	longest := 0
	for i := range int64(4000) {
		source, _ := opened(long).Vocabularies().Text(opened(long).Training(1, i))
		_, of, err := execute.EvaluateProgram(source)
		if err != nil {
			t.Fatal(err)
		}
		if of.Digits == 3 && len(of.Operations) == 2 {
			longest++
		}
	}
	const want = 0.6 + 0.4/6 // a standard deviation of 0.0075
	if share := float64(longest) / 4000; math.Abs(share-want) > 0.03 {
		t.Errorf("%.3f are of the greatest nesting and length, want %.3f", share, want)
	}
	selection := task.Selection{Count: 300, Validation: true}
	mixed, err := opened(plain).HeldOut(task.TestSeed, selection)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := opened(long).HeldOut(task.TestSeed, selection); err != nil || !reflect.DeepEqual(got, mixed) {
		t.Errorf("validation has other programs, %v", err)
	}
}

// Second factors of training programs, and only of these, have their first digit and 0 to L-1 of the last ones, equally often, and zeros in
// between. Caught when planted: other numbers with zeros; validation with zeros; zeros in front; more than the last digits.
func TestTrainingSparseFactors(t *testing.T) {
	plain := execute.Program{Operations: execute.AllOperations, Nesting: 1, Length: 4, TrainingLongest: 1}
	sparse := plain
	sparse.TrainingSparseFactors = true
	tk := opened(sparse)
	zeros, products, others, inOthers := [3]int{}, 0, 0, 0
	for i := range int64(20_000) {
		e := tk.Training(1, i)
		source, target := tk.Vocabularies().Text(e)
		want, _, err := execute.EvaluateProgram(source)
		if err != nil || want != target {
			t.Fatalf("%s is %s, not %s: %v", source, want, target, err)
		}
		for j, number := range strings.FieldsFunc(source, func(r rune) bool { return r < '0' || r > '9' }) {
			if len(number) == 1 { // the count of a loop
				continue
			}
			if !strings.Contains(source, "*") || j != 1 {
				others++
				inOthers += strings.Count(number[1:], "0")
				continue
			}
			products++
			for place := range zeros {
				if number[1+place] == '0' {
					zeros[place]++
				}
			}
		}
	}
	for place, n := range zeros { // of about 4,000: a standard deviation of 0.008
		want := float64(3-place)/4 + 0.1*float64(1+place)/4 // the digits drawn are zero in a tenth of the numbers
		if share := float64(n) / float64(products); math.Abs(share-want) > 0.03 {
			t.Errorf("digit %d of second factors is zero in %.3f, want %.3f", place+1, share, want)
		}
	}
	if share := float64(inOthers) / float64(3*others); math.Abs(share-0.1) > 0.01 {
		t.Errorf("other numbers have %.3f zeros, want a tenth", share)
	}
	selection := task.Selection{Count: 300, Validation: true}
	want, err := opened(plain).HeldOut(task.TestSeed, selection)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tk.HeldOut(task.TestSeed, selection); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("validation has other programs, %v", err)
	}
}

func testTrainingOperations(t *testing.T, set string, shares map[string]float64) {
	plain := execute.Program{Operations: execute.Control, Nesting: 2, Length: 3}
	wider := plain
	wider.TrainingOperations = set
	tk := opened(wider)
	counts, total := map[string]int{}, 0
	longest, _ := tk.MaxLengths()
	for i := range int64(4000) {
		e := tk.Training(1, i)
		source, _ := tk.Vocabularies().Text(e)
		_, of, err := execute.EvaluateProgram(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range of.Operations {
			counts[op]++
			total++
		}
		if len(e.Source) > longest {
			t.Fatalf("a source of %d characters, longer than %d", len(e.Source), longest)
		}
	}
	for op, want := range shares {
		// about 6,000 operations: a standard deviation of 0.006
		if share := float64(counts[op]) / float64(total); math.Abs(share-want) > 0.023 {
			t.Errorf("%.3f of the operations are %s, want %.3f: %v", share, op, want, counts)
		}
	}
	for _, sel := range []task.Selection{{Count: 300}, {Count: 300, Length: 3}, {Count: 300, Validation: true}} {
		want, err := opened(plain).HeldOut(task.TestSeed, sel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tk.HeldOut(task.TestSeed, sel)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: other programs than those of control, %v", sel, err)
		}
	}
	sums := execute.Program{Operations: execute.Addition, TrainingOperations: execute.Control, Nesting: 2, Length: 3}
	if got, _ := opened(sums).MaxLengths(); got != longest {
		t.Errorf("sums trained with control have sources of up to %d characters, want %d", got, longest)
	}
	sums = execute.Program{Operations: execute.Control, TrainingOperations: execute.Addition, Nesting: 2, Length: 3}
	if got, _ := opened(sums).MaxLengths(); got != longest {
		t.Errorf("control trained with sums has sources of up to %d characters, want %d", got, longest)
	}
}

// The first training examples of seed 1 must stay what they are: results are told by seed.
func TestExamplesAreFrozen(t *testing.T) {
	for i, want := range []string{
		"9296809 9296809",
		"71374344281350895166812734407194044598808802243463 7137434428135089516681273440719404459880880224346371374344281350895166812734407194044598808802243463",
		"47291984 48919274",
		"30-73 957",
		"x=37for[1]x+=32 69",
		"(1948+3462)+9756 15166",
		"(((8*3)+3)-3)+6 03",
		"i=2#for x in range(13):i+=308#g=6#for x in range(1):g-=i#print(g) -4000",
		"f=3;#print((f+((3*(2-5))-6))) 21-",
	} {
		tk := opened(definitions[i])
		source, target := tk.Vocabularies().Text(tk.Training(1, 0))
		if got := source + " " + target; got != want {
			t.Errorf("%s: first example is %q, want %q", title(definitions[i]), got, want)
		}
	}
}

// No text panics or takes long, and what is accepted has a number as its answer.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"(12+34)if56<78else90", "x=(1*2)for[3]x+=4", "7-9", "a=305#for x in range(6):a+=48#print((a-77))", "a=(3 if 4>5 else 6);#print(a)", "((((", "x=", "a=99#a=(a*a)#print(a)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, evaluate := range []func(string) (string, execute.Summary, error){execute.EvaluateProgram, execute.EvaluateScript} {
			answer, _, err := evaluate(text)
			if err != nil {
				var at *execute.SyntaxError
				if ok := asSyntax(err, &at); !ok || at.Position < 1 || at.Position > len(text)+1 {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			if _, ok := new(big.Int).SetString(answer, 10); !ok || len(answer) > 11_000 {
				t.Fatalf("%q gives %q", text, answer)
			}
		}
	})
}

func asSyntax(err error, at **execute.SyntaxError) (ok bool) {
	*at, ok = err.(*execute.SyntaxError)
	return ok
}
