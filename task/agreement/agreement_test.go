package agreement

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

func TestConformance(t *testing.T) {
	dir := numpred(t, 600)
	for name, c := range map[string]task.Definition{
		"number":  Number{Path: dir, Regime: Natural},
		"rare":    Number{Path: dir, Regime: Enriched, MinCount: 2},
		"classes": Classes{Path: dir, Regime: Natural},
		"enrich":  Classes{Path: dir, Regime: Enriched},
		"verbs":   Verbs{Path: verbs(t, 6000)},
		"pairs":   pairs(t),
		"forms":   forms(t),
	} {
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, opened(t, c))
			tasktest.Files(t, c, opened(t, c), false)
		})
	}
}

// No preamble stands in two parts, none is lost but those of the test that stand in numpred.val, a repeated one is not divided; only
// the enriched regime trains on a test file, and on the first alone; both say which they are.
// Caught when planted: a division by row number, shared rows that stay in the test, enriched rows of test.2, a name without the regime.
func TestRegimes(t *testing.T) {
	dir := numpred(t, 600)
	lines := map[int]int{0: 660, 1: 660, 2: 300, 3: 200, 4: 150, 5: 120}
	for _, regime := range []Regime{Natural, Enriched} {
		tk := opened(t, Number{Path: dir, Regime: regime})
		part := map[string]string{}
		with := map[string]map[int]int{}
		for name, rows := range map[string][]row{"training": tk.training, "validation": tk.validation, "test": tk.test} {
			with[name] = map[int]int{}
			for _, r := range rows {
				if other, ok := part[r.preamble()]; ok && other != name {
					t.Fatalf("%s: %q is in %s and in %s", regime, r.text, name, other)
				}
				part[r.preamble()] = name
				with[name][r.attractors]++
			}
		}
		if with["training"][unlabelled]+with["validation"][unlabelled] != lines[0] || with["validation"][unlabelled] < 30 || with["validation"][unlabelled] > 110 { // 66 expected, about 8 standard deviations of 5.6 with repeats
			t.Errorf("%s: of numpred.val %v, %v", regime, with["training"], with["validation"])
		}
		for k := 2; k <= maxAttractors; k++ {
			if with["test"][k] != lines[k] || with["training"][k]+with["validation"][k] != 0 {
				t.Errorf("%s: of %d attractors %v", regime, k, with)
			}
		}
		all, trained := with["training"][1]+with["validation"][1]+with["test"][1], with["training"][1]
		if all != 600 || regime == Natural && with["test"][1] != 600 || regime == Enriched && (trained < 400 || with["validation"][1] < 20 || with["test"][1] < 20) {
			t.Errorf("%s: of 1 attractor %v", regime, with)
		}
		notes := strings.Join(tk.Notes(), "\n")
		for _, want := range []string{"skipped 60 test rows", string(regime) + ": ", "120 with 5", "words are <unknown>"} {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: the notes do not say %q: %s", regime, want, notes)
			}
		}
		if not := strings.Contains(notes, "not comparable"); not != (regime == Enriched) || !strings.HasSuffix(tk.Name(), string(regime)) {
			t.Errorf("%s: %q, %s", regime, tk.Name(), notes)
		}
	}
}

// What each form reads and answers.
// Caught when planted: a class in the source, the verb in the preamble of a class, no End of a sentence.
func TestForms(t *testing.T) {
	dir := numpred(t, 100)
	text := func(c task.Definition) (source, target string, ids task.Example) {
		tk := opened(t, c)
		e := tk.example(tk.training[0])
		source, target = tk.Vocabularies().Text(e)
		return source, target, e
	}
	number, verb := opened(t, Number{Path: dir, Regime: Natural}).training[0], opened(t, Verbs{Path: verbs(t, 400)}).training[0]
	if source, target, e := text(Number{Path: dir, Regime: Natural}); source != "" || target != number.text || e.Target[len(e.Target)-1] == vocab.End {
		t.Errorf("%q -> %q", source, target)
	}
	if source, target, e := text(Classes{Path: dir, Regime: Natural}); source != number.preamble() || source+" "+target != number.text || len(e.Target) != 1 {
		t.Errorf("%q -> %q", source, target)
	}
	if source, target, e := text(Verbs{Path: verbs(t, 400)}); source != "" || target != verb.text || e.Target[len(e.Target)-1] != vocab.End || verb.words()[verb.verb] != map[bool]string{true: "are", false: "is"}[verb.plural] {
		t.Errorf("%q -> %q of %+v", source, target, verb)
	}
}

// Nine hundredths are trained on, a hundredth validates; the groups are of rows whose nouns between are all attractors.
// Caught when planted: parts by nine tenths, a label for every row.
func TestVerbs(t *testing.T) {
	tk := opened(t, Verbs{Path: verbs(t, 8000)})
	// standard deviations: 26 and 9
	if a, b := len(tk.training), len(tk.validation); a < 590 || a > 850 || b < 40 || b > 120 || a+b+len(tk.test) != 8000 {
		t.Errorf("%d, %d, %d rows", a, b, len(tk.test))
	}
	for _, r := range tk.test {
		if n := strings.Count(r.text, "cabinet"); r.attractors != unlabelled && r.attractors != n {
			t.Fatalf("%+v has %d", r, n)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(tk.test), func(r row) bool { return r.attractors == unlabelled })); n < 3000 || n > 4300 {
		t.Errorf("%d of %d rows are homogeneous", n, len(tk.test))
	}
}

// Sentences of the test are not learned.
// Caught when planted: no look at the pairs.
func TestPairsAreNotLearned(t *testing.T) {
	tk := opened(t, pairs(t))
	if len(tk.test) != 30 || len(tk.training)+len(tk.validation) != 300 || !strings.Contains(strings.Join(tk.Notes(), "\n"), "1 have more than 50 words, 1 are pairs") {
		t.Errorf("%d, %d, %d: %q", len(tk.training), len(tk.validation), len(tk.test), tk.Notes())
	}
}

// Readers read what is typed, and files of the task's format.
func TestReaders(t *testing.T) {
	dir := numpred(t, 100)
	c := Classes{Path: dir, Regime: Natural}
	v := opened(t, c).Vocabularies()
	r := c.Reader(v)
	in, err := r.Read("the keys of the moon")
	if err != nil || len(in.Source) != 5 || !slices.Equal(in.Unknown, []string{"moon"}) {
		t.Errorf("%+v, %v", in, err)
	}
	if class, err := r.Target(plural); err != nil || v.Target.Token(class[0]) != plural {
		t.Errorf("%v, %v", class, err)
	}
	if _, err := r.Target("JJ"); err == nil {
		t.Error("a third class")
	}
	examples, notes, err := r.File(write(t, dir, "own", "VBZ\tthe moon\nVBP\tthe keys\n"))
	if err != nil || len(examples) != 2 || len(notes) != 1 || !strings.HasSuffix(notes[0], "1 of 4 words are <unknown>: the vocabulary does not have them") {
		t.Errorf("%v, %q, %v", examples, notes, err)
	}
}

func TestValidate(t *testing.T) {
	for want, c := range map[string]task.Definition{
		"path is empty: name the folder":  Number{Regime: Natural},
		`regime is "rich": it must be on`: Classes{Path: "x", Regime: "rich"},
		`regime is "": it must be one of`: Number{Path: "x"},
		"min_count is -1":                 Number{Path: "x", Regime: Natural, MinCount: -1},
		"path is empty: name the authors": Verbs{},
		`path is "x": name a file of sen`: Pairs{Path: "x", Text: "y"},
		"text is empty: name a training":  Pairs{Path: "x.text"},
		"vocabulary is -2":                Pairs{Path: "x.text", Text: "y", Vocabulary: -2},
		"vocabulary is -3":                TextForms{Text: "y", Vocabulary: -3},
		"text is empty: name the text wh": TextForms{Vocabulary: 9},
		`pairs is "x": name a file of se`: TextForms{Forms: Forms{Number: Number{Path: "x", Regime: Natural}, Pairs: "x"}},
		"no such file":                    Number{Path: "nowhere", Regime: Natural},
	} {
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}
