package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/internal/strictjson"
	"universal-transformer/runlog"
)

// File describes a grid of runs: every variant with every combination of the grid's values and every seed.
type File struct {
	Name     string          `json:"name"`     // of the grid; the folder of its runs
	Base     json.RawMessage `json:"base"`     // the name of a recipe, or a configuration: fields that are missing have their defaults
	Set      []string        `json:"set"`      // assignments for all runs: "task.path=pairs.tsv"
	Variants Variants        `json:"variants"` // named lists of assignments; none: the base alone
	Grid     Grid            `json:"grid"`     // fields with their values
	Seeds    Seeds           `json:"seeds"`    // a list, or how many from 1 on; missing: 1
	Measure  Protocol        `json:"measure"`  // missing: the test examples of the task
}

// Variants are named lists of assignments, in the order of the file.
type Variants []Variant

// Variant is one list of assignments.
type Variant struct {
	Name string
	Set  []string
}

// Grid is fields with their values, in the order of the file.
type Grid []Values

// Values are the values of one field.
type Values struct {
	Field  string // "model.width"
	Values []json.RawMessage
}

// Seeds are the seeds of every cell.
type Seeds []uint64

// Limits of a file, far above what anybody means.
const (
	MaxFileSize = 1 << 20 // bytes
	maxCells    = 1000
)

// ParseFile reads a sweep file, strictly. It does not resolve its base.
func ParseFile(data []byte) (File, error) {
	var f File
	if err := strictjson.Decode(data, &f); err != nil {
		return f, err
	}
	if f.Seeds == nil {
		f.Seeds = Seeds{1}
	}
	return f, f.validate()
}

func (f File) validate() error {
	switch {
	case f.Name == "":
		return errors.New(`name is missing: name the sweep, as in "name": "widths"`)
	case strings.Contains(f.Name, "/") || checkName(f.Name) != nil:
		return fmt.Errorf("name is %q: use letters, digits and _ . + -, and begin with a letter or digit", f.Name)
	case len(f.Base) == 0:
		return errors.New(`base is missing: give the name of a recipe, as in "base": "own-pairs", or a configuration`)
	case f.Base[0] != '"' && f.Base[0] != '{':
		return fmt.Errorf("base is %s: it must be the name of a recipe or a configuration", shortened(f.Base))
	}
	if err := f.validateGrid(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, v := range f.Variants {
		if strings.Contains(v.Name, "/") || checkName(v.Name) != nil {
			return fmt.Errorf("variants: the name %q cannot be that of a file: use letters, digits and _ . + -", v.Name)
		}
		if names[strings.ToLower(v.Name)] {
			return fmt.Errorf("variants: %q is there twice, not counting case: choose different names", v.Name)
		}
		names[strings.ToLower(v.Name)] = true
	}
	return f.Measure.validate()
}

func (f File) validateGrid() error {
	n := max(len(f.Variants), 1) * len(f.Seeds)
	for _, g := range f.Grid {
		if len(g.Values) == 0 {
			return fmt.Errorf("grid.%s is empty: list its values, or leave the field out", g.Field)
		}
		if n *= len(g.Values); n > maxCells {
			break
		}
	}
	if n > maxCells {
		return fmt.Errorf("variants, grid and seeds make more than %d runs: list fewer values", maxCells)
	}
	return nil
}

// Cells lists the runs, with every cell once before any cell a second time. resolve returns the run of a recipe. Run directories are in dir,
// results in its folder "results".
func (f File) Cells(dir string, resolve func(name string) (experiment.Run, error)) ([]Cell, error) {
	base, err := f.base(resolve)
	if err != nil {
		return nil, err
	}
	if base, err = base.Set(f.Set...); err != nil {
		return nil, fmt.Errorf("set: %w", err)
	}
	points, err := f.points()
	if err != nil {
		return nil, err
	}
	var cells []Cell
	for _, seed := range f.Seeds {
		for _, p := range points {
			run, err := base.Set(p.Set...)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			run.Name, run.Seed = f.Name+"/"+p.Name, seed
			if err := run.Validate(); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			cells = append(cells, Cell{
				Recipe: p.Name, Run: run, Runs: dir, Results: filepath.Join(dir, resultsFolder), Measure: f.Measure.measure, New: func() Measured { return &Metrics{} },
			})
		}
	}
	return cells, nil
}

// resultsFolder holds the results of a user's sweep, in its folder.
const resultsFolder = "results"

// base is the run that all others are changes of.
func (f File) base(resolve func(string) (experiment.Run, error)) (experiment.Run, error) {
	var name string
	if json.Unmarshal(f.Base, &name) == nil {
		run, err := resolve(name)
		if err != nil {
			return run, fmt.Errorf("base: %w", err)
		}
		return run, nil
	}
	run := experiment.Defaults()
	if err := runlog.DecodeConfig(f.Base, &run); err != nil {
		return run, fmt.Errorf("base: %s", position.ReplaceAllString(err.Error(), ""))
	}
	return run, nil
}

// points are the combinations of variants and values of the grid: a name and the assignments of each.
func (f File) points() ([]Variant, error) {
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
			return nil, fmt.Errorf("the cell %q has too long a name: give the values as variants", p.Name)
		}
		if names[strings.ToLower(p.Name)] {
			return nil, fmt.Errorf("two cells have the name %q: grid lists a value twice, or values whose names are equal: give them as variants", p.Name)
		}
		names[strings.ToLower(p.Name)] = true
	}
	return points, nil
}

// short is the last key of a field, or the whole field if another one of the grid ends in the same key.
func (f File) short(field string) string {
	key := field[strings.LastIndex(field, ".")+1:]
	for _, g := range f.Grid {
		if g.Field != field && (g.Field == key || strings.HasSuffix(g.Field, "."+key)) {
			return field
		}
	}
	return key
}

// safe is a value as a part of file names: {"fixed":{"steps":4}} is "fixed-steps-4".
func safe(value json.RawMessage) string {
	return strings.Trim(unsafeCharacters.ReplaceAllString(string(value), "-"), "-")
}

var unsafeCharacters = regexp.MustCompile(`[^A-Za-z0-9_.+]+`)

// UnmarshalJSON keeps the order of the keys.
func (v *Variants) UnmarshalJSON(data []byte) error {
	*v = Variants{}
	return ordered(data, "variants", `{"small": ["model.width=32"]}`, func(name string, value json.RawMessage) error {
		var set []string
		if err := json.Unmarshal(value, &set); err != nil || set == nil {
			return fmt.Errorf(`variants.%s is %s: it must be a list of assignments, as in ["model.width=32"]; [] changes nothing`, name, shortened(value))
		}
		*v = append(*v, Variant{name, set})
		return nil
	})
}

// UnmarshalJSON keeps the order of the keys.
func (g *Grid) UnmarshalJSON(data []byte) error {
	*g = Grid{}
	return ordered(data, "grid", `{"model.width": [32, 64]}`, func(field string, value json.RawMessage) error {
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil || list == nil {
			return fmt.Errorf("grid.%s is %s: it must be a list of values, as in [32, 64]", field, shortened(value))
		}
		if field == "" || field == "seed" || field == "name" {
			return fmt.Errorf("grid has the field %q: name a field of the configuration, as in model.width; seeds are given in seeds", field)
		}
		for i, v := range list {
			var compact bytes.Buffer
			if err := json.Compact(&compact, v); err != nil {
				return err
			}
			list[i] = compact.Bytes()
		}
		*g = append(*g, Values{field, list})
		return nil
	})
}

// ordered calls do for every member of an object, in order.
func ordered(data []byte, field, example string, do func(string, json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("%s is %s: it must be an object, as in %s", field, shortened(data), example)
	}
	seen := map[string]bool{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		name := key.(string) // the keys of an object are strings
		if seen[name] {
			return fmt.Errorf("%s.%s is given twice", field, name)
		}
		seen[name] = true
		if err := do(name, value); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalJSON reads a list of seeds, or how many there are.
func (s *Seeds) UnmarshalJSON(data []byte) error {
	var n float64
	if json.Unmarshal(data, &n) == nil && string(data) != "null" {
		if n != math.Trunc(n) || n < 1 || n > maxCells {
			return fmt.Errorf("seeds is %s: it must be a number from 1 to %d, or a list as in [1, 2, 3]", data, maxCells)
		}
		*s = nil
		for i := range int(n) {
			*s = append(*s, uint64(i+1))
		}
		return nil
	}
	var list []uint64
	if err := json.Unmarshal(data, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("seeds is %s: it must be a number, as in 3, or a list of whole numbers, as in [1, 2, 3]", shortened(data))
	}
	for i, seed := range list {
		if slices.Contains(list[:i], seed) {
			return fmt.Errorf("seeds lists %d twice", seed)
		}
	}
	*s = list
	return nil
}

// shortened is the beginning of a value, for a message.
func shortened(data []byte) string {
	if text := []rune(string(bytes.TrimSpace(data))); len(text) > 40 {
		return string(text[:40]) + "..."
	}
	return string(bytes.TrimSpace(data))
}
