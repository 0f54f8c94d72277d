package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"universal-transformer/internal/strictjson"
)

// File describes a grid of runs: every variant with every combination of the grid's values and every seed.
type File struct {
	Name     string          `json:"name"`     // name of the grid and of the folder of its runs
	Base     json.RawMessage `json:"base"`     // the name of a recipe, or a configuration, in which missing fields are as in the recipe own-... of its task
	Set      []string        `json:"set"`      // assignments for all runs: "task.path=pairs.tsv"
	Variants Variants        `json:"variants"` // named lists of assignments; none: the base alone
	Grid     Grid            `json:"grid"`     // fields with their values
	Seeds    Seeds           `json:"seeds"`    // a list, or a number n for the seeds 1 to n; missing: 1
	Measure  Protocol        `json:"measure"`  // missing: the test examples of the task
}

// Variants are named lists of assignments, in the order of the file.
type Variants []Variant

// Variant is one named list of assignments.
type Variant struct {
	Name string
	Set  []string
}

// Grid holds fields with their values, in the order of the file.
type Grid []Values

// Values are the values of one field.
type Values struct {
	Field  string // "model.width"
	Values []json.RawMessage
}

// Seeds are the seeds of every cell.
type Seeds []uint64

// Limits of a file.
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
	case len(f.Base) == 0:
		return errors.New(`base is missing: give the name of a recipe, as in "base": "own-pairs", or a configuration`)
	case f.Base[0] != '"' && f.Base[0] != '{':
		return fmt.Errorf("base is %s: it must be the name of a recipe or a configuration", shortened(f.Base))
	}
	if err := checkFileName(f.Name); err != nil {
		return fmt.Errorf("name is %q: %w", f.Name, err)
	}
	if err := f.validateGrid(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, v := range f.Variants {
		if err := checkFileName(v.Name); err != nil {
			return fmt.Errorf("variants: the name %q is not a valid file name: %w", v.Name, err)
		}
		if names[strings.ToLower(v.Name)] {
			return fmt.Errorf("variants: %q is given twice, ignoring case: choose different names", v.Name)
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

// UnmarshalJSON reads an object and keeps the order of its keys.
func (v *Variants) UnmarshalJSON(data []byte) error {
	*v = Variants{}
	return ordered(data, "variants", `{"small": ["model.width=32"]}`, func(name string, value json.RawMessage) error {
		var set []string
		if err := strictjson.Decode(value, &set); err != nil || set == nil {
			return fmt.Errorf(`variants.%s is %s: it must be a list of assignments, as in ["model.width=32"]; [] changes nothing`, name, shortened(value))
		}
		*v = append(*v, Variant{name, set})
		return nil
	})
}

// UnmarshalJSON reads an object and keeps the order of its keys.
func (g *Grid) UnmarshalJSON(data []byte) error {
	*g = Grid{}
	return ordered(data, "grid", `{"model.width": [32, 64]}`, func(field string, value json.RawMessage) error {
		var list []json.RawMessage
		if err := strictjson.Decode(value, &list); err != nil || list == nil {
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
	members, _, err := strictjson.Members(data)
	if errors.Is(err, strictjson.ErrNotObject) {
		return fmt.Errorf("%s is %s: it must be an object, as in %s", field, shortened(data), example)
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.Name] {
			return fmt.Errorf("%s.%s is given twice", field, m.Name)
		}
		seen[m.Name] = true
		if err := do(m.Name, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalJSON reads a list of seeds, or their number.
func (s *Seeds) UnmarshalJSON(data []byte) error {
	var n float64
	if strictjson.Decode(data, &n) == nil {
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
	if err := strictjson.Decode(data, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("seeds is %s: it must be a number, as in 3, or a list of whole numbers, as in [1, 2, 3]", shortened(data))
	}
	seen := map[uint64]bool{}
	for _, seed := range list {
		if seen[seed] {
			return fmt.Errorf("seeds lists %d twice", seed)
		}
		seen[seed] = true
	}
	*s = list
	return nil
}

// shortened returns the beginning of a value in one line, for a message.
func shortened(data []byte) string {
	text := strings.Join(strings.Fields(string(data)), " ")
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "..."
	}
	return text
}
