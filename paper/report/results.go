// Package report writes the pages of results from result files, and from the generator of table 6's tests what they consist of: RESULTS.md
// with a verdict on every table and claim of the paper and the tables in the paper's layout, and one page per table with all measurements,
// training details and figures.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/regularfile"
	"universal-transformer/internal/strictjson"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// A run is a decoded result of a cell.
type run struct {
	sweep.Result
	measured sweep.Measured
	family   string
	column   string
}

// book holds all results, by cell, and the published searches.
type book struct {
	runs     map[string][]run // by recipe, in the order of seeds; those that were trained with its values
	others   map[string][]run // by recipe, in the order of seeds; those that were trained with other values
	searches []Search
	paired   []measure.Paired     // by row and seed
	limited  map[string][]limited // by limited column of table 6, in the order of rows and seeds
}

// newBook decodes results. A result of a recipe that no table has is an error.
func newBook(results []sweep.Result) (book, error) {
	b, tables := book{runs: map[string][]run{}, others: map[string][]run{}}, map[string]paper.Table{}
	for _, t := range paper.All() {
		cells, err := t.Cells(nil, nil)
		if err != nil {
			return b, err
		}
		for _, c := range cells {
			tables[c.Recipe()] = t
		}
	}
	for _, r := range results {
		t, ok := tables[r.Recipe]
		if !ok {
			return b, fmt.Errorf("%s: recipe %q is in no table: move the file out of the folder of results", r.File(), r.Recipe)
		}
		m := measure.New(t)
		if err := r.Decode(m); err != nil {
			return b, err
		}
		into := b.runs
		if len(r.Set) > 0 {
			into = b.others
		}
		into[r.Recipe] = append(into[r.Recipe], run{r, m, r.Family(), r.Column()})
	}
	for _, runs := range []map[string][]run{b.runs, b.others} {
		for _, list := range runs {
			slices.SortFunc(list, func(x, y run) int { return cmp.Compare(x.Seed, y.Seed) })
		}
	}
	return b, b.addTests()
}

// of returns the runs of a cell, by seed.
func (b book) of(family, column string) []run { return b.runs[family+"/"+column] }

// table returns the runs of a table, by row, column and seed.
func (b book) table(t paper.Table) (list []run) {
	for _, r := range t.Rows {
		list = append(list, b.row(t, r)...)
	}
	return list
}

// withOtherValues returns the runs of a table that were trained with other values than those of their recipes, by row, column and seed.
func (b book) withOtherValues(t paper.Table) (list []run) {
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			list = append(list, b.others[r.Family+"/"+c.Name]...)
		}
	}
	return list
}

// row returns the runs of a row, by column and seed.
func (b book) row(t paper.Table, r paper.Row) (list []run) {
	for _, c := range t.Columns {
		list = append(list, b.of(r.Family, c.Name)...)
	}
	return list
}

// chosen returns the run with the lowest validation cross entropy. There must be a run.
func chosen(runs []run) run {
	return slices.MinFunc(runs, byValidation)
}

// byValidation compares the validation cross entropies of two runs.
func byValidation(x, y run) int { return cmp.Compare(x.Validation, y.Validation) }

// Versions of a recipe: the one of the catalogue, and one whose configuration has a form that is no longer read.
const (
	today      = "today's"
	unreadable = "in a form that is no longer read"
)

// recipeVersion returns the version of the recipe that a run was trained with: "today's", or the version of the program that wrote it.
func (r run) recipeVersion() string {
	by := cmp.Or(r.TrainedBy.Build(), r.MeasuredBy.Build(), "an earlier version")
	recipe, err := recipes.Named(r.Recipe)
	if err != nil {
		return "of " + by + "; the catalogue has no such recipe any more"
	}
	trained, err := experiment.Decode(r.Config)
	if err != nil {
		return "of " + by + ", " + unreadable
	}
	present := withPathsOf(recipe.Run(), trained)
	present.Name, present.Seed = trained.Name, trained.Seed
	if !slices.Equal(present.Identity().JSON(), trained.Identity().JSON()) {
		return "of " + by
	}
	return today
}

// withPathsOf returns a recipe's run with the files and the pretrained run of another one: where data are, and whether a stand-in is used for
// missing ones, does not make a version.
func withPathsOf(r, other experiment.Run) experiment.Run {
	paths := map[string]string{}
	for _, f := range other.Files() {
		paths[f.Field] = f.Path
	}
	r = r.WithFiles(func(f experiment.File) string {
		path := cmp.Or(paths[f.Field], f.Path)
		delete(paths, f.Field)
		return path
	})
	for field, path := range paths { // the recipe leaves it empty
		if set, err := r.Set(field + "=" + path); err == nil {
			r = set
		}
	}
	return r
}

// values returns the values of all runs that have one.
func values(runs []run, of func(run) (float64, bool)) (list []float64) {
	for _, r := range runs {
		if v, ok := of(r); ok && !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	return list
}

// otherValues writes the runs that were trained with other values than those of their recipes, which no table or test includes.
func (p *page) otherValues(t paper.Table) {
	runs := p.book.withOtherValues(t)
	if len(runs) == 0 {
		return
	}
	p.printf("## Runs with other values\n\nTrained with other values than those of their recipes. They are in no table, and in no comparison.\n\n")
	p.head("recipe", "seed", "values", "model", "updates", "validation, nats", "measured", "trained by")
	for _, r := range runs {
		p.row(r.Recipe, fmt.Sprint(r.Seed), strings.Join(r.Set, ", "), r.Model, thousands(int(r.Step)), nats(r.Validation), r.measured.Summary(), by(r.TrainedBy))
	}
	p.printf("\n")
}

// training writes how every run was trained, with its provenance.
func (p *page) training(t paper.Table) {
	runs := p.book.table(t)
	if len(runs) == 0 {
		p.printf("No run has a result.\n")
		return
	}
	p.printf("## Training\n\n")
	p.head("recipe", "seed", "version of the recipe", "model", "parameters", "updates", "chosen", "validation, nats", "chosen by", "minutes", "threads", "trained by", "measured by")
	for _, r := range runs {
		p.row(r.Recipe, fmt.Sprint(r.Seed), r.recipeVersion(), r.Model, thousands(r.Parameters), thousands(int(r.Step)), thousands(int(r.BestStep)), nats(r.Validation),
			r.ChosenBy, fmt.Sprintf("%.1f", r.Seconds/60), fmt.Sprint(r.Threads), by(r.TrainedBy), by(r.MeasuredBy))
	}
	p.printf("\nMinutes are those of training with its validations, on the machine of trained by. They include time in which the process was suspended; the minutes in trained by do not. Where trained by is not recorded, the machine is unknown. " +
		"Training the recipe of a run, with its seed, trains the run again, if the run used today's recipe and the version named here; later versions sum in another order or choose " +
		"checkpoints otherwise (table 1).\n")
}

// nats formats a validation cross entropy; "" for results without one.
func nats(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", v)
}

// by formats a provenance for a cell.
func by(p sweep.Provenance) string {
	if !p.Recorded() {
		return "not recorded"
	}
	text := cmp.Or(p.Build(), "build not recorded")
	for _, part := range []string{p.Backend, p.Device, p.CPU} {
		if part != "" {
			text += ", " + part
		}
	}
	if p.WallSeconds > 0 {
		text += fmt.Sprintf(", %.1f minutes, %.1f of processors", p.WallSeconds/60, p.CPUSeconds/60)
	}
	if p.ChangedData != "" {
		text += "; " + p.ChangedData
	}
	return text
}

// readJSON reads a JSON file into the value that p points to: it must have all fields of its type, and no others.
func readJSON(file string, p any) error {
	data, err := regularfile.Read(file)
	if err != nil {
		return err
	}
	if err := strictjson.Decode(data, p); err != nil {
		return err
	}
	return strictjson.Complete(data, reflect.ValueOf(p).Elem().Interface())
}

// damaged adds the file and what to do to an error of its content. What to do about a file that cannot be read does not depend on its content.
func damaged(file string, err error, remedy string) error {
	if unreadable := regularfile.Advised(err); unreadable != nil {
		return unreadable
	}
	return fmt.Errorf("%s: %w: %s", file, err, remedy)
}

// jsonFiles returns the names of the JSON files in a folder, in order. A missing folder has none.
func jsonFiles(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
