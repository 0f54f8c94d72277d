package paper

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
)

// Every cell of every table names a recipe of the catalogue, which belongs to the table's group.
func TestCellsNameRecipes(t *testing.T) {
	for i, table := range All() {
		if table.Number != i+1 {
			t.Errorf("table %d stands at place %d", table.Number, i+1)
		}
		cells, err := table.Cells(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			recipe, err := recipes.Named(c.Recipe())
			if err != nil {
				t.Errorf("table %d: %v", table.Number, err)
			} else if recipe.Group != strings.Replace(table.Name(), "table", "table ", 1) {
				t.Errorf("%s is of the group %q", recipe.Name, recipe.Group)
			}
		}
	}
}

// The depths of table 1 are those of its recipes. Caught when planted: another limit of joint models; three steps.
func TestBabiDepths(t *testing.T) {
	steps := func(recipe, field string) float64 {
		n, _ := recipes.MustRun(recipe).Fields()["model.classifier.halting."+field].(float64)
		return n
	}
	most, least, fixed := steps("babi-10k-single-adaptive/task01", "frozen.max_steps"), steps("babi-10k-joint-adaptive/joint", "frozen.max_steps"), steps("babi-10k-single/task01", "fixed.steps")
	if want := fmt.Sprintf("UT with dynamic halting takes at most %v steps (10k joint: %v), the other models %v", most, least, fixed); BabiDepths != want {
		t.Errorf("%q, want %q", BabiDepths, want)
	}
	for _, s := range BabiSettings {
		row, _ := Table1().Row("babi-" + s.Name)
		limit := most
		if s.Name == "10k-joint" {
			limit = least
		}
		for _, column := range row.Columns {
			if got := steps(row.Family+"-adaptive/"+column, "frozen.max_steps"); got != limit {
				t.Errorf("%s-adaptive/%s takes at most %v steps, not %v", row.Family, column, got, limit)
			}
			if own, other := steps(row.Family+"/"+column, "fixed.steps"), steps(row.Family+"-transformer/"+column, "fixed.steps"); own != fixed || other != fixed {
				t.Errorf("%s/%s: the Universal Transformer has %v steps, the Transformer %v layers", row.Family, column, own, other)
			}
		}
	}
}

// The preface of tables 5 and 6 has the widths of their recipes.
func TestWidthsInPreface(t *testing.T) {
	for _, table := range []Table{Table5(), Table6()} {
		for _, r := range table.Rows {
			if strings.Contains(r.Title, "width") || strings.Contains(r.Title, "last digit") {
				continue
			}
			for _, c := range table.Columns {
				want := "Universal Transformer is 64 wide"
				width := width(t, r.Family+"/"+c.Name)
				switch {
				case strings.Contains(r.Family, "lstm"):
					want = fmt.Sprintf("the LSTM %d.", width)
				case strings.Contains(r.Family, "transformer"):
					want = map[int]string{26: "the Transformer 26 or", 32: "the Transformer 26 or 32,"}[width]
				case width != 64:
					want = ""
				}
				if want == "" || !strings.Contains(table.Preface, want) {
					t.Errorf("%s/%s is %d wide: the preface lacks %q", r.Family, c.Name, width, want)
				}
			}
		}
	}
}

// width returns the width of a recipe's model.
func width(t *testing.T, name string) int {
	t.Helper()
	for field, value := range recipes.MustRun(name).Fields() {
		if strings.HasPrefix(field, "model.") && strings.HasSuffix(field, ".width") {
			return int(value.(float64))
		}
	}
	t.Fatalf("%s has no width", name)
	return 0
}

// A row has a title, published figures only of columns that it has, and as many as the column shows; every table says what was seen of
// the test data, and has one model of its own that others are compared with in each block that compares.
func TestRowsAreComplete(t *testing.T) {
	for _, table := range All() {
		own := 0
		for _, r := range table.Rows {
			if r.Title == "" || r.Family == "" {
				t.Errorf("table %d: a row has no title or family: %+v", table.Number, r)
			}
			for name, published := range r.Published {
				c, ok := table.Column(name)
				if want := max(1, len(c.Figures)); !ok || !r.Has(name) || len(published) != want {
					t.Errorf("%s publishes %d figures of column %s, want %d", r.Family, len(published), name, want)
				}
			}
			if r.Own {
				own++
			}
		}
		if own == 0 || len(table.Seen) == 0 || table.Preface == "" {
			t.Errorf("table %d: %d own rows, seen %q", table.Number, own, table.Seen)
		}
	}
}

// The average and the failed tasks of table 1 are those of its tasks in appendix C. Averages are rounded, so they agree within 0.05.
func TestTable1AgreesWithAppendixC(t *testing.T) {
	for family, said := range babiPublished {
		if said.Best == nil {
			continue
		}
		sum, failed := 0.0, 0
		for _, e := range said.Best {
			sum += e
			if e > BabiFails {
				failed++
			}
		}
		if average := sum / float64(len(BabiTasks)); len(said.Best) != len(BabiTasks) || len(said.Seeds) != len(BabiTasks) || average-said.Average > 0.05 || said.Average-average > 0.05 || failed != said.Failed {
			t.Errorf("%s: average %.3f and %d failed, table 1 has %.2f and %d", family, average, failed, said.Average, said.Failed)
		}
	}
}

func names(cells []Cell) string {
	var list []string
	for _, c := range cells {
		list = append(list, c.Recipe())
	}
	return strings.Join(list, " ")
}

// Cells come row by row, of the columns that a row has; tasks of bAbI may be given by number.
func TestCells(t *testing.T) {
	for _, want := range []struct {
		table         int
		rows, columns []string
		cells         string
	}{
		{4, []string{"algorithmic-lstm", "algorithmic"}, []string{"copy"}, "algorithmic-lstm/copy algorithmic/copy"},
		{1, []string{"babi-1k-single"}, []string{"2", "task01"}, "babi-1k-single/task01 babi-1k-single/task02"},
		{6, []string{"programs-wide"}, nil, "programs-wide/program programs-wide/control"},
		{6, nil, []string{"control"}, "programs-lstm/control programs-lstm-longer/control programs-transformer/control programs-transformer-longer/control programs/control " +
			"programs-adaptive/control programs-wide/control programs-wide-transformer/control programs-fine-tuned/control programs-little-end/control"},
	} {
		cells, err := All()[want.table-1].Cells(want.rows, want.columns)
		if err != nil || names(cells) != want.cells {
			t.Errorf("table %d, %q, %q: %s, %v", want.table, want.rows, want.columns, names(cells), err)
		}
	}
}

// Unknown names are refused, with the nearest or all names.
func TestNamesAreRefused(t *testing.T) {
	cells := func(table int, rows, columns []string) error {
		_, err := All()[table-1].Cells(rows, columns)
		return err
	}
	named := func(name string) error { _, err := Named(name); return err }
	for want, err := range map[string]error{
		`row "algoritmic" of table 4 is not known: did you mean "algorithmic"?`:                                                      cells(4, []string{"algoritmic"}, nil),
		`column "coppy" of table 4 is not known: did you mean "copy"?`:                                                               cells(4, nil, []string{"coppy"}),
		`column "zzzzzzzz" of table 5 is not known: it has copy, double, reverse`:                                                    cells(5, nil, []string{"zzzzzzzz"}),
		`column program is not known in row programs-fine-tuned, which has control`:                                                  cells(6, []string{"programs-fine-tuned"}, []string{"program"}),
		`table "8" is not known: the paper has tables 1 to 7`:                                                                        named("8"),
		`table "memory-lstm" is not known: memory-lstm is a row of table 5`:                                                          named("memory-lstm"),
		`column "task21" of table 1 is not known: it has task01, task02, task03, task04, task05, task06, task07, task08 and 13 more`: cells(1, nil, []string{"21"}),
	} {
		if err == nil || err.Error() != want || !errors.Is(err, ErrName) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, name := range []string{"4", "table4"} {
		if table, err := Named(name); err != nil || table.Number != 4 {
			t.Errorf("%q: table %d, %v", name, table.Number, err)
		}
	}
}

// Tables and pages set no field of a run: neither package imports what trains, and no statement selects Training.
func TestTablesSetNoTraining(t *testing.T) {
	for _, folder := range []string{".", "report"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) < 8 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range trainingOf(tree) {
				t.Errorf("%s has %s", file, name)
			}
		}
	}
}

// trainingOf names what a file has to do with training.
func trainingOf(file *ast.File) (names []string) {
	for _, i := range file.Imports {
		if path := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(path, "universal-transformer/training") {
			names = append(names, "an import of "+path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Training" {
			names = append(names, "a selector of Training")
		}
		return true
	})
	return names
}

// The check above finds both.
func TestTrainingOfBites(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nimport \"universal-transformer/training/schedule\"\nfunc f(r run) { r.Training.Steps = 3 }", 0)
	if err != nil || len(trainingOf(file)) != 2 {
		t.Errorf("%v, %v", trainingOf(file), err)
	}
}
