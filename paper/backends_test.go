package paper

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// Rows that are compared were trained with the same options of the backend, column by column, apart from the exceptions in fair.go. Results
// whose backend is not recorded are logged, and compared with nothing.
// Caught when planted: products=bf16 in one seed of a row of float32; products=bf16 in all results of the Universal Transformer of a block; an
// exception that is none, or without a reason; an exception with other options; an exception of no row.
func TestBackendsAreEqual(t *testing.T) {
	trained, unrecorded := publishedBackends(t)
	var found []UnequalBackend
	for _, table := range All() {
		found = append(found, unequalIn(table, trained)...)
	}
	key := func(u UnequalBackend) string {
		return fmt.Sprintf("%s/%s has %s, and %s has %s", u.Family, u.Column, u.Options, u.Than, u.ThanOptions)
	}
	declared := map[string]bool{}
	for _, table := range All() {
		for _, u := range table.UnequalBackends() {
			if declared[key(u)] || u.Why == "" {
				t.Errorf("%s is declared twice or without a reason", key(u))
			}
			declared[key(u)] = true
		}
	}
	if len(declared) != len(unequalBackends) {
		t.Errorf("%d exceptions are of rows and columns, want all %d", len(declared), len(unequalBackends))
	}
	for _, u := range found {
		if !declared[key(u)] {
			t.Errorf("%s, which is not declared", key(u))
		}
		delete(declared, key(u))
	}
	for k := range declared {
		t.Errorf("%s is declared, and is not so", k)
	}
	t.Logf("backends of %d results are not recorded: %s", len(unrecorded), strings.Join(unrecorded, ", "))
}

// publishedBackends returns the options of the backends of published results, by recipe, sorted and without repetition, and the names of the
// results whose backend is not recorded.
func publishedBackends(t *testing.T) (trained map[string][]string, unrecorded []string) {
	t.Helper()
	results, err := sweep.ReadAll(filepath.Join("..", "results"))
	if err != nil || len(results) == 0 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	trained = map[string][]string{}
	for _, r := range results {
		if r.TrainedBy.Backend == "" {
			unrecorded = append(unrecorded, r.Name())
			continue
		}
		for backend := range strings.SplitSeq(r.TrainedBy.Backend, "; ") { // of several sessions
			trained[r.Recipe] = append(trained[r.Recipe], backendOptions(backend))
		}
	}
	for recipe, list := range trained {
		slices.Sort(list)
		trained[recipe] = slices.Compact(list)
	}
	return trained, unrecorded
}

// backendOptions returns what a recorded backend says about the numbers that it computes: "float32" or the options that round products,
// "products=bf16"; the name of a backend other than cpu; "" if the backend is not recorded. Kernels and threads only change the order of sums.
func backendOptions(backend string) string {
	name, config, _ := strings.Cut(backend, ":")
	if name != "cpu" {
		name, _, _ = strings.Cut(name, " (")
		return name
	}
	var rounded []string
	for option := range strings.SplitSeq(config, ",") {
		if key, _, _ := strings.Cut(option, "="); key == "products" || key == "least" {
			rounded = append(rounded, option)
		}
	}
	if rounded == nil {
		return "float32"
	}
	slices.Sort(rounded)
	return strings.Join(rounded, ",")
}

// unequalIn returns the rows and columns of a table that break the rule, without reasons. Recipes without recorded backends break none.
func unequalIn(table Table, trained map[string][]string) (found []UnequalBackend) {
	for _, own := range table.Rows {
		if !own.Own {
			continue
		}
		for _, c := range table.Columns {
			block := []Row{own} // with recorded backends
			for _, r := range table.Rows {
				if r.Block == own.Block && r.Family != own.Family {
					block = append(block, r)
				}
			}
			block = slices.DeleteFunc(block, func(r Row) bool { return !r.Has(c.Name) || len(trained[Cell{r, c}.Recipe()]) == 0 })
			for _, r := range block {
				x, y := trained[Cell{block[0], c}.Recipe()], trained[Cell{r, c}.Recipe()]
				if len(y) > 1 || !slices.Equal(x, y) {
					found = append(found, UnequalBackend{Family: r.Family, Column: c.Name, Options: strings.Join(y, "; "), Than: block[0].Family, ThanOptions: strings.Join(x, "; ")})
				}
			}
		}
	}
	return found
}

// The rule itself, on a table and backends written by hand.
func TestUnequalIn(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "copy"}, {Name: "double"}},
		Rows: []Row{
			{Family: "ut", Block: "a", Own: true}, {Family: "lstm", Block: "a"}, {Family: "short", Block: "a", Columns: []string{"double"}}, {Family: "other", Block: "b"},
		},
	}
	for i, c := range []struct {
		trained map[string][]string
		want    string
	}{
		{map[string][]string{"ut/copy": {"float32"}, "lstm/copy": {"float32"}, "other/copy": {"xla"}}, ""},
		{map[string][]string{"ut/copy": {"float32"}, "lstm/copy": {"products=bf16"}}, "lstm copy products=bf16 ut float32"},
		{map[string][]string{"lstm/copy": {"products=bf16"}, "ut/double": {"float32"}}, ""},
		{map[string][]string{"lstm/double": {"products=bf16"}, "short/double": {"float32"}}, "short double float32 lstm products=bf16"},
		{map[string][]string{"ut/double": {"float32"}, "short/double": {"float32", "products=bf16"}, "short/copy": {"xla"}}, "short double float32; products=bf16 ut float32"},
		{map[string][]string{"ut/copy": {"float32", "products=bf16"}}, "ut copy float32; products=bf16 ut float32; products=bf16"},
	} {
		var got []string
		for _, u := range unequalIn(table, c.trained) {
			got = append(got, strings.Join([]string{u.Family, u.Column, u.Options, u.Than, u.ThanOptions}, " "))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
	for backend, want := range map[string]string{
		"": "", "cpu": "float32", "cpu:threads=1": "float32", "cpu:avx512,threads=1,products=bf16": "products=bf16", "cpu:threads=2,products=bf16,least=2": "least=2,products=bf16",
		"xla": "xla", "xla (cuda)": "xla", "xla:cuda": "xla", "go": "go",
	} {
		if got := backendOptions(backend); got != want {
			t.Errorf("%q is %q, want %q", backend, got, want)
		}
	}
}
