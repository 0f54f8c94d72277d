package translation

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/subword"
	"universal-transformer/task"
)

// few is a translation of n pairs, of which at least 100 are to be held out.
func few(t *testing.T, n int) Translation {
	t.Helper()
	source, target := numbered(n)
	return Translation{
		Path: folder(t, map[string]string{"train.en": source, "train.de": target}), Training: []Corpus{two("train")}, MinHeldOut: 100, Choice: subword.Choice{TokenizerSize: 300},
	}
}

// numbered returns n numbered sources and targets.
func numbered(n int) (source, target string) {
	var s, d strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "number %d\n", i)
		fmt.Fprintf(&d, "Zahl %d\n", i)
	}
	return s.String(), d.String()
}

// Few pairs have a tenth held out, more of them a hundred, and many .02; a share that is given, and files for validation and test, stay as
// they are. The numbers differ from the shares by chance: four standard deviations, 4 * sqrt(n * share).
// Caught when planted: a minimum above a tenth, a minimum for each part, one that replaces a given share, a count that stops too early.
func TestMinHeldOut(t *testing.T) {
	for _, c := range []struct {
		pairs int
		given float64
		want  float64 // share
	}{{300, 0, .1}, {2000, 0, .05}, {5000, 0, .02}, {8000, 0, .02}, {2000, .3, .3}} {
		config := few(t, c.pairs)
		config.HeldOut = c.given
		tk := open(t, config)
		got, want := float64(len(tk.validation)+len(tk.test)), c.want*float64(c.pairs)
		if deviation := 4 * math.Sqrt(want); got < want-deviation || got > want+deviation || len(tk.training)+len(tk.validation)+len(tk.test) != c.pairs {
			t.Errorf("%d pairs: %d, %d and %d, want %.0f held out", c.pairs, len(tk.training), len(tk.validation), len(tk.test), want)
		}
		if again := open(t, func() Translation { config.HeldOut = c.want; return config }()); again.Digests() != tk.Digests() {
			t.Errorf("%d pairs are not divided by the share %v", c.pairs, c.want)
		}
	}
	without := few(t, 2000)
	without.MinHeldOut = 0
	if tk := open(t, without); tk.config.HeldOut != defaultHeldOut {
		t.Errorf("without a minimum, the share is %v", tk.config.HeldOut)
	}
	files := few(t, 2000)
	files.Validation, files.Test = files.Training, files.Training
	if tk := open(t, files); len(tk.training) != 2000 {
		t.Errorf("with files for both, %d pairs are for training", len(tk.training))
	}
	files.MinHeldOut = -1
	if err := files.Validate(); err == nil || !strings.HasPrefix(err.Error(), "min_held_out is -1: ") {
		t.Errorf("a negative minimum: %v", err)
	}
}

// Parts of few pairs are remarked on. Caught when planted: a remark on 20; none because of the larger part.
func TestFewNotes(t *testing.T) {
	for _, c := range []struct {
		validation, test int
		want             bool
	}{{20, 20, false}, {19, 500, true}, {500, 19, true}, {500, 500, false}} {
		if notes := task.FewNotes("pairs", c.validation, c.test); (len(notes) == 1) != c.want {
			t.Errorf("%d and %d pairs: %q", c.validation, c.test, notes)
		}
	}
	if notes := strings.Join(open(t, few(t, 300)).Notes(), "\n"); !strings.Contains(notes, " pairs for validation and ") || !strings.Contains(notes, "with fewer than 20, scores depend much on chance") {
		t.Errorf("%s", notes)
	}
}

// Validation and test pairs, and those of a file to evaluate on, are compared with the training part, as long as that can be read.
// Caught when planted: the whole file for the training part, another share than that of training, the validation part left out, a
// source that counts once however often it occurs.
func TestRepeatedPairs(t *testing.T) {
	config := few(t, 1000)
	tk := open(t, config)
	name := func(part string) string { return filepath.Join(config.Path, "train."+part) }
	want := fmt.Sprintf("%d of 1000 sources are also in the training part", len(tk.training))
	_, notes, err := config.Reader(tk.Vocabularies()).File(name("en") + "," + name("de"))
	if err != nil || !slices.Contains(notes, want) || len(tk.training) > 950 {
		t.Errorf("%q, %v, want %q", notes, err, want)
	}
	source, _ := tk.Vocabularies().Text(tk.training[0])
	twice := filepath.Join(t.TempDir(), "twice.tsv")
	if err := os.WriteFile(twice, []byte(strings.Repeat(source+"\tx\n", 2)+"new\tx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, notes, err := config.Reader(tk.Vocabularies()).File(twice); err != nil || !slices.Contains(notes, "2 of 3 sources are also in the training part") {
		t.Errorf("%q, %v", notes, err)
	}
	with := config
	with.Validation, with.Test = []Corpus{two("train")}, []Corpus{{Pairs: twice}}
	with.Path, with.Training = "", []Corpus{{Source: name("en"), Target: name("de")}}
	with.Validation = with.Training
	if notes := open(t, with).Notes(); !slices.Contains(notes, "1000 of 1000 validation sources are also in the training part") || !slices.Contains(notes, "2 of 3 test sources are also in the training part") {
		t.Errorf("%q", notes)
	}
	if err := os.Remove(name("de")); err != nil {
		t.Fatal(err)
	}
	if _, notes, err := config.Reader(tk.Vocabularies()).File(twice); err != nil || strings.Contains(strings.Join(notes, ""), "training part") {
		t.Errorf("without the training file: %q, %v", notes, err)
	}
}
