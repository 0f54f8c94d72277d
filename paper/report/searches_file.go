package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// Search is a published sweep whose trials are compared on validation data: searches/NAME.json below the results, with the results of its
// finished trials in the folder searches/NAME as ut sweep writes them. If no result was kept, its trials have figures from docs/log.md, and the
// sweep states the trials that the log names.
type Search struct {
	Sweep    json.RawMessage `json:"sweep"`            // a file of ut sweep; its base is the recipe of a cell of a table
	Measure  string          `json:"measure"`          // by which trials are compared: byEntropy or byAccuracy
	Selected string          `json:"selected"`         // name of the trial whose values the cell's recipe has; "" if the search is for information
	Log      string          `json:"log"`              // heading of its entry in docs/log.md
	Trials   []trial         `json:"trials,omitempty"` // from that entry; none if results were kept

	file    sweep.File
	points  []sweep.Variant // all trials that the sweep lists, finished or not
	cell    paper.Cell
	results []sweep.Result // of the trials, if results were kept
}

// trial is a finished trial: the fields of a result that a log entry records, too.
type trial struct {
	Recipe     string           `json:"recipe"`
	Seed       uint64           `json:"seed"`
	Step       int64            `json:"step"`       // number of updates
	Validation float64          `json:"validation"` // the search's measure
	TrainedBy  sweep.Provenance `json:"trained_by"`
}

// Measures of searches. A lower cross entropy is better, in nats per token, and a higher accuracy.
const (
	byEntropy  = "validation cross entropy"
	byAccuracy = "validation accuracy"
)

// ReadSearches reads the searches below the results strictly, by name. There may be none.
func ReadSearches(root string) (list []Search, err error) {
	folder := filepath.Join(root, sweep.SearchesFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(folder, strings.TrimSuffix(e.Name(), ".json"))
		if e.IsDir() {
			if _, err := os.Stat(name + ".json"); err != nil {
				return nil, fmt.Errorf("%s holds results of a search without %[1]s.json: restore this file, or remove the folder", name)
			}
			continue
		}
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		results, err := sweep.ReadAll(name)
		if err != nil { // which names the file of the result
			return nil, err
		}
		s, err := readSearch(name, results)
		if err != nil {
			return nil, damaged(name+".json", err, "restore the search and its results, or repeat it")
		}
		list = append(list, s)
	}
	return list, nil
}

// kept reports whether the trials are from results.
func (s *Search) kept() bool { return len(s.results) > 0 }

// readSearch reads a search with these results. name is the path of its file without .json.
func readSearch(name string, results []sweep.Result) (s Search, err error) {
	if err := readJSON(name+".json", &s); err != nil {
		return s, err
	}
	if err := s.resolve(filepath.Base(name)); err != nil {
		return s, err
	}
	if err := s.addResults(results); err != nil {
		return s, err
	}
	if err := s.validate(); err != nil {
		return s, err
	}
	return s, s.validateSelected()
}

// resolve parses the sweep and finds its cell.
func (s *Search) resolve(name string) (err error) {
	if s.file, err = sweep.ParseFile(s.Sweep); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if s.points, err = s.file.Points(); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if s.file.Name != name {
		return fmt.Errorf("sweep.name is %q: it must be the file's, %q", s.file.Name, name)
	}
	var base string
	if err := json.Unmarshal(s.file.Base, &base); err != nil {
		return errors.New("sweep.base must be the name of a cell's recipe, as in \"algorithmic/copy\"")
	}
	for _, t := range paper.All() {
		if _, ok := t.Row(sweep.Family(base)); !ok {
			continue
		}
		cells, err := t.Cells([]string{sweep.Family(base)}, []string{sweep.Column(base)})
		if err != nil {
			return fmt.Errorf("sweep.base is %q: %w", base, err)
		}
		s.cell = cells[0]
		return nil
	}
	return fmt.Errorf("sweep.base is %q: no table has the row %q", base, sweep.Family(base))
}

// validate returns an error that names the first field without a sensible value.
func (s *Search) validate() error {
	switch {
	case s.Measure != byEntropy && s.Measure != byAccuracy:
		return fmt.Errorf("measure is %q: choose from %s and %s", s.Measure, byEntropy, byAccuracy)
	case s.Log == "":
		return errors.New("log is empty: name the entry of docs/log.md")
	case len(s.Trials) == 0:
		return errors.New("it has no finished trial")
	}
	for i, t := range s.Trials {
		if err := s.validateTrial(t); err != nil {
			return fmt.Errorf("trials[%d]: %w", i, err)
		}
		if slices.ContainsFunc(s.Trials[:i], func(before trial) bool { return before.Recipe == t.Recipe && before.Seed == t.Seed }) {
			return fmt.Errorf("trials[%d]: %s with seed %d is there twice", i, t.Recipe, t.Seed)
		}
	}
	return nil
}

// validateTrial is validate for one trial. The values of a trial without a result must be valid in today's recipe.
func (s *Search) validateTrial(t trial) error {
	assigned, ok := s.assignments(t.Recipe)
	switch {
	case !ok:
		return s.unknown(t.Recipe)
	case !slices.Contains(s.file.Seeds, t.Seed):
		return fmt.Errorf("%s: seed is %d: the sweep has %v", t.Recipe, t.Seed, s.file.Seeds)
	case t.Step < 1:
		return fmt.Errorf("%s: step is %d: it must be positive", t.Recipe, t.Step)
	case !(t.Validation > 0) || s.Measure == byAccuracy && t.Validation > 1:
		return fmt.Errorf("%s: validation is %v, which is no %s", t.Recipe, t.Validation, s.Measure)
	case !t.TrainedBy.Recorded():
		return fmt.Errorf("%s: trained_by is empty", t.Recipe)
	}
	if err := t.TrainedBy.Validate(); err != nil {
		return fmt.Errorf("%s: trained_by.%w", t.Recipe, err)
	}
	if s.kept() {
		return nil
	}
	recipe, err := recipes.Named(s.cell.Recipe())
	if err == nil {
		_, err = recipe.Run().Set(slices.Concat(s.file.Set, assigned)...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Recipe, err)
	}
	return nil
}

// validateSelected checks that the selected trial is the best by the mean of the measure over seeds, and that the recipe has its values.
func (s *Search) validateSelected() error {
	if s.Selected == "" {
		return nil
	}
	assigned, ok := s.assignments(s.Selected)
	if !ok {
		return fmt.Errorf("selected: %w", s.unknown(s.Selected))
	}
	means := s.means()
	chosen, finished := means[s.Selected]
	if !finished {
		return fmt.Errorf("selected is %q, which has no finished trial", s.Selected)
	}
	for _, name := range slices.Sorted(maps.Keys(means)) {
		if m := means[name]; s.Measure == byEntropy && m < chosen || s.Measure == byAccuracy && m > chosen {
			return fmt.Errorf("selected is %q with a %s of %v: %q has %v", s.Selected, s.Measure, chosen, name, m)
		}
	}
	recipe, err := recipes.Named(s.cell.Recipe())
	if err != nil {
		return err
	}
	set, err := recipe.Run().Set(assigned...)
	if err != nil {
		return fmt.Errorf("selected: %w", err)
	}
	if fields := different(recipe.Run(), set); len(fields) > 0 {
		return fmt.Errorf("selected is %q, but %s of %s is %v", s.Selected, fields[0], s.cell.Recipe(), recipe.Run().Fields()[fields[0]])
	}
	return nil
}

// means returns the mean of the measure over seeds, by the names of finished trials.
func (s *Search) means() map[string]float64 {
	seeds := map[string][]float64{}
	for _, t := range s.Trials {
		seeds[t.Recipe] = append(seeds[t.Recipe], t.Validation)
	}
	means := map[string]float64{}
	for name, values := range seeds {
		means[name] = mean(values)
	}
	return means
}
