package generated_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/task"
	"universal-transformer/task/generated"
	"universal-transformer/task/tasktest"
)

// sorting sorts digits: 3 1 4 -> 1 3 4.
func sorting() generated.Task {
	return generated.Task{
		Name: "sort", Vocabulary: strings.Split("0123456789", ""), MaxLength: 8,
		Draw: func(rng *rand.Rand, length int) (source, target []string) {
			for range length {
				source = append(source, strconv.Itoa(rng.IntN(10)))
			}
			return source, slices.Sorted(slices.Values(source))
		},
	}
}

func open(t *testing.T, g generated.Task) task.Task {
	t.Helper()
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	opened, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func TestTask(t *testing.T) {
	tasktest.Run(t, open(t, sorting()))
	tasktest.Files(t, sorting(), open(t, sorting()), false)
}

// Words are separated by white space, and a target may be longer than its source.
func TestWords(t *testing.T) {
	tasktest.Run(t, open(t, generated.Task{
		Name: "twice", Vocabulary: []string{"left", "right", "on"}, MaxLength: 9, MaxTarget: 18,
		Draw: func(rng *rand.Rand, length int) (source, target []string) {
			for range length {
				word := []string{"left", "right", "on"}[rng.IntN(3)]
				source, target = append(source, word), append(target, word, word)
			}
			return source, target
		},
	}))
}

// No source of four digits or more is in two of training, validation and test; lengths are as selected.
func TestSplitsAreApart(t *testing.T) {
	opened := open(t, sorting())
	of := map[string]string{}
	put := func(split string, examples []task.Example, shortest, longest int) {
		lengths := map[int]bool{}
		for _, e := range examples {
			lengths[len(e.Source)] = true
			if n := len(e.Source); n < shortest || n > longest {
				t.Fatalf("%s has a source of %d tokens, want %d..%d", split, n, shortest, longest)
			}
			key := fmt.Sprint(e.Source)
			if other := of[key]; len(e.Source) >= 4 && other != "" && other != split {
				t.Fatalf("%s is in %s and %s", key, other, split)
			}
			of[key] = split
		}
		if len(lengths) != longest-shortest+1 {
			t.Errorf("%s has the lengths %v", split, lengths)
		}
	}
	var training []task.Example
	for i := range int64(3000) {
		training = append(training, opened.Training(7, i))
	}
	put("training", training, 1, 8)
	for _, validation := range []bool{true, false} {
		for _, s := range []task.Selection{{}, {Length: 12}, {Mix: 5}, {Length: 4}, {From: 4, Mix: 6}} {
			s.Validation, s.Count = validation, 500
			examples, err := opened.HeldOut(1, s)
			if err != nil {
				t.Fatal(err)
			}
			shortest, longest := 1, 8
			if s.Length > 0 {
				shortest, longest = s.Length, s.Length
			} else if s.Mix > 0 {
				shortest, longest = max(s.From, 1), s.Mix
			}
			put(fmt.Sprintf("validation %v", validation), examples, shortest, longest)
		}
	}
}

func TestMistakesOfDraw(t *testing.T) {
	for says, draw := range map[string]func(*rand.Rand, int) ([]string, []string){
		"a source that Draw returned for length 1 has 2 tokens": func(_ *rand.Rand, n int) ([]string, []string) { return make([]string, n+1), nil },
		`unknown token "x"`: func(_ *rand.Rand, n int) ([]string, []string) { return slices.Repeat([]string{"x"}, n), nil },
		"a target that Draw returned for length 1 has 9 tokens": func(_ *rand.Rand, n int) ([]string, []string) {
			return slices.Repeat([]string{"1"}, n), slices.Repeat([]string{"1"}, 9)
		},
	} {
		g := sorting()
		g.Draw = draw
		if _, err := g.Open(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for field, change := range map[string]func(*generated.Task){
		"name": func(g *generated.Task) { g.Name = "" }, "vocabulary": func(g *generated.Task) { g.Vocabulary = nil },
		"max_length": func(g *generated.Task) { g.MaxLength = 0 }, "max_target": func(g *generated.Task) { g.MaxTarget = -1 },
		"draw": func(g *generated.Task) { g.Draw = nil }, "vocabulary:": func(g *generated.Task) { g.Vocabulary = []string{"a", "a"} },
	} {
		g := sorting()
		change(&g)
		if err := g.Validate(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A run records the task's name and fields; with two tasks of this type, the name tells which one it is.
func TestRecordedByName(t *testing.T) {
	r := experiment.Defaults()
	r.Task = experiment.Task{Value: sorting()}
	read, err := experiment.Decode(r.JSON())
	if err != nil {
		t.Fatal(err)
	}
	other := sorting()
	other.Name, other.MaxLength = "other", 3
	known := sorting()
	known.MaxLength = 99
	read, err = read.Extend(experiment.Extensions{Tasks: []task.Definition{other, known}})
	if err != nil {
		t.Fatal(err)
	}
	if g := read.Task.Value.(generated.Task); g.Name != "sort" || g.MaxLength != 8 || g.Draw == nil {
		t.Errorf("%+v", g)
	}
}
