package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/internal/strictjson"
)

// Cells lists the runs: every cell with the first seed, then every cell with the second, and so on. resolve returns the run of a recipe. Run
// directories are in dir, results in its folder "results".
func (f File) Cells(dir string, resolve func(name string) (experiment.Run, error)) ([]Cell, error) {
	base, err := f.base(resolve)
	if err != nil {
		return nil, err
	}
	if SetsSeed(f.Set) {
		return nil, errors.New("set has the field seed: give seeds in seeds")
	}
	for _, v := range f.Variants {
		if SetsSeed(v.Set) {
			return nil, fmt.Errorf("variants.%s has the field seed: give seeds in seeds", v.Name)
		}
	}
	set, err := base.Set(f.Set...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", blamed(base, err, "set"), err)
	}
	points, err := f.Points()
	if err != nil {
		return nil, err
	}
	var cells []Cell
	same := map[string]string{} // name of the point by its configuration
	for _, seed := range f.Seeds {
		for _, p := range points {
			run, err := set.Set(p.Set...)
			if err == nil {
				run.Name, run.Seed = f.Name+"/"+p.Name, seed
				err = run.Validate()
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", blamed(base, err, p.Name), err)
			}
			anonymous := run
			anonymous.Name = ""
			key := string(anonymous.JSON())
			if first, ok := same[key]; ok {
				return nil, fmt.Errorf("%s and %s are the same run: another assignment, of variants or grid, sets the field in which they are to differ", first, p.Name)
			}
			same[key] = p.Name
			cells = append(cells, Cell{
				Recipe: p.Name, Run: run, Runs: dir, Results: filepath.Join(dir, resultsFolder), Protocol: f.Measure,
			})
		}
	}
	return cells, nil
}

// SetsSeed reports whether assignments set the seed, which that of a cell would replace.
func SetsSeed(set []string) bool {
	return slices.ContainsFunc(set, func(assignment string) bool {
		field, _, _ := strings.Cut(assignment, "=")
		return strings.TrimSpace(field) == "seed"
	})
}

// blamed returns the part of the file that is at fault for an error of a run: the base if it has the same error, otherwise changed.
func blamed(base experiment.Run, err error, changed string) string {
	if invalid := base.Validate(); invalid != nil && invalid.Error() == err.Error() {
		return "base"
	}
	return changed
}

// resultsFolder is the folder of results within the folder of a user's sweep.
const resultsFolder = "results"

// base returns the run that all others derive from.
func (f File) base(resolve func(string) (experiment.Run, error)) (experiment.Run, error) {
	var name string
	if json.Unmarshal(f.Base, &name) == nil {
		run, err := resolve(name)
		if err != nil {
			return run, fmt.Errorf("base: %w", err)
		}
		return run, nil
	}
	run, err := experiment.FromDefaults(f.Base)
	if err != nil {
		return run, fmt.Errorf("base: %w", strictjson.WithoutPlace(err))
	}
	return run, nil
}

// Points returns the combinations of variants and values of the grid, each with its name, which is that of its cell, and its assignments.
func (f File) Points() ([]Variant, error) {
	points := []Variant(f.Variants)
	if len(points) == 0 {
		points = []Variant{{}}
	}
	for _, g := range f.Grid {
		var next []Variant
		for _, p := range points {
			for _, value := range g.Values {
				name := f.short(g.Field) + "=" + safe(value)
				if p.Name != "" {
					name = p.Name + "," + name
				}
				next = append(next, Variant{Name: name, Set: append(slices.Clone(p.Set), g.Field+"="+string(value))})
			}
		}
		points = next
	}
	names := map[string]bool{}
	for i, p := range points {
		if p.Name == "" {
			points[i].Name = "base"
		}
		if len(p.Name) > 150 {
			return nil, fmt.Errorf("the cell %q has too long a name: use variants with short names", p.Name)
		}
		if names[strings.ToLower(p.Name)] {
			return nil, fmt.Errorf("two cells have the name %q: grid lists a value twice, or values with equal names: use variants instead", p.Name)
		}
		names[strings.ToLower(p.Name)] = true
	}
	return points, nil
}

// short returns the last key of a field, or the whole field if another field of the grid ends in the same key.
func (f File) short(field string) string {
	key := field[strings.LastIndex(field, ".")+1:]
	for _, g := range f.Grid {
		if g.Field != field && (g.Field == key || strings.HasSuffix(g.Field, "."+key)) {
			return field
		}
	}
	return key
}

// safe returns a value in a form for file names: {"fixed":{"steps":4}} becomes "fixed-steps-4". Numbers keep their sign.
func safe(value json.RawMessage) string {
	if json.Unmarshal(value, new(float64)) == nil {
		return string(value)
	}
	return strings.Trim(unsafeCharacters.ReplaceAllString(string(value), "-"), "-")
}

var unsafeCharacters = regexp.MustCompile(`[^A-Za-z0-9_.+]+`)
