package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/internal/atomicfile"
)

// A dataset is one task of the suite.
type dataset struct {
	name   string
	recipe string
	set    []string // assignments besides the path
	test   string   // file of test examples; "": the held-out examples of the task
	main   measure  // the figure of the table
	save   func(d dataset, dir string) error
}

// measure is the metric of the results that the table shows.
type measure struct {
	metric string // as ut eval names it
	unit   string
	better float64 // 1 if higher is better, -1 if lower is
}

var (
	answers   = measure{"sequence accuracy", "accuracy", 1}
	tags      = measure{"token accuracy", "accuracy", 1}
	classes   = measure{"accuracy", "accuracy", 1}
	bleuScore = measure{"BLEU", "BLEU", 1}
	perChar   = measure{"bits per token", "bits per character", -1}
)

// suite lists the ten tasks.
func suite() []dataset {
	pairs := func(name string, training, test int, draw func(rng *rand.Rand) (source, target string), set ...string) dataset {
		return dataset{name: name, recipe: "own-pairs", set: append([]string{"task.path=" + name + ".tsv"}, set...), test: name + "-test.tsv", main: answers,
			save: func(d dataset, dir string) error { return savePairs(d, dir, training, test, draw) }}
	}
	tagging := pairs("tagging", 3000, 1000, tagged)
	tagging.recipe, tagging.main = "own-tags", tags
	return []dataset{
		pairs("dates", 3000, 1000, date),
		pairs("sorting", 4000, 1000, sorting),
		pairs("numbers", 2500, 1000, spelledNumber),
		tagging,
		{
			name: "opinions", recipe: "own-labels", test: "opinions-test.csv", main: classes, save: saveOpinions,
			set: []string{"task.path=opinions.csv", "task.text_column=text", "task.label_column=label"},
		},
		{
			name: "docs", recipe: "own-labels", test: "docs-test.csv", main: classes, save: saveDocs,
			set: []string{"task.path=docs.csv", "task.text_column=text", "task.label_column=label"},
		},
		pairs("addition", 2300, 1000, spelledAddition),
		pairs("roots", 1000, 300, root),
		{
			name: "translation", recipe: "own-translation", main: bleuScore, save: saveTranslation,
			set: []string{
				`task.training=[{"source": "translation.en", "target": "translation.de"}]`,
				`task.test=[{"source": "translation-test.en", "target": "translation-test.de"}]`,
			},
		},
		{name: "text", recipe: "own-text", set: []string{"task.path=text.txt"}, main: perChar, save: saveText},
	}
}

// errMissing is the error of a task whose data are not on this machine.
var errMissing = errors.New("missing")

// write writes the data and the sweep files. A task whose data are missing is named and left out.
func write(out io.Writer, dir string, tasks []dataset, grid bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, d := range tasks {
		err := d.save(d, dir)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(out, "%s is skipped: %v\n", d.name, err)
			continue
		}
		if err == nil {
			err = d.saveSweep(dir, grid)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// printNames prints the names of the tasks with a sweep file, one a line.
func printNames(out io.Writer, dir string, tasks []dataset) {
	for _, d := range tasks {
		for _, name := range []string{d.name, d.name + "-grid"} {
			if _, err := os.Stat(filepath.Join(dir, name+".json")); err == nil {
				fmt.Fprintln(out, d.name)
				break
			}
		}
	}
}

func names(tasks []dataset) (list []string) {
	for _, d := range tasks {
		list = append(list, d.name)
	}
	return list
}

// rng returns the source of randomness of a data set.
func (d dataset) rng() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(d.name))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// savePairs draws pairs with different sources and writes the training and test files.
func savePairs(d dataset, dir string, training, test int, draw func(*rand.Rand) (source, target string)) error {
	rng, seen := d.rng(), map[string]bool{}
	var files [2]strings.Builder
	for i := 0; i < training+test; {
		source, target := draw(rng)
		if seen[source] {
			continue
		}
		seen[source] = true
		part := 0
		if i >= training {
			part = 1
		}
		fmt.Fprintf(&files[part], "%s\t%s\n", source, target)
		i++
	}
	if err := save(dir, d.name+".tsv", files[0].String()); err != nil {
		return err
	}
	return save(dir, d.test, files[1].String())
}

// saveLabeled writes texts and labels as CSV, the last test rows as a file of their own.
func saveLabeled(d dataset, dir string, rows [][]string, test int) error {
	for name, part := range map[string][][]string{d.name + ".csv": rows[:len(rows)-test], d.test: rows[len(rows)-test:]} {
		var b strings.Builder
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append([][]string{{"text", "label"}}, part...)); err != nil {
			return err
		}
		if err := save(dir, name, b.String()); err != nil {
			return err
		}
	}
	return nil
}

func save(dir, name, text string) error {
	return atomicfile.Write(filepath.Join(dir, name), []byte(text))
}

// pick returns a random element.
func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// word returns a random word of a list separated by blanks.
func word(rng *rand.Rand, list string) string { return pick(rng, strings.Fields(list)...) }
