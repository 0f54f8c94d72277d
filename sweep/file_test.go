package sweep

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/task"
)

// resolve knows one recipe.
func resolve(name string) (experiment.Run, error) {
	if name != "own-pairs" {
		return experiment.Run{}, fmt.Errorf("recipe %q is not known", name)
	}
	return experiment.Parse([]byte(`{"name": "own-pairs", "task": {"copy": {}}}`))
}

// The runs are all variants with all values of the grid, in the order of the file, every cell once before any a second time.
func TestFileCells(t *testing.T) {
	f, err := ParseFile([]byte(`{
		"name": "g", "base": "own-pairs", "set": ["training.steps=50"],
		"variants": {"z": ["model.heads=2"], "a": []},
		"grid": {"model.width": [32, 64], "model.halting": [{"fixed": {"steps": 3}}, {"fixed": {"steps": 5}}]},
		"seeds": [7, 3]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells("dir", resolve)
	if err != nil || len(cells) != 16 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	want := []string{
		"z,width=32,halting=fixed-steps-3-seed7", "z,width=32,halting=fixed-steps-5-seed7", "z,width=64,halting=fixed-steps-3-seed7", "z,width=64,halting=fixed-steps-5-seed7",
		"a,width=32,halting=fixed-steps-3-seed7",
	}
	for i, name := range want {
		if cells[i].Name() != name {
			t.Errorf("cell %d is %s, want %s", i, cells[i].Name(), name)
		}
	}
	last := cells[15]
	if last.Name() != "a,width=64,halting=fixed-steps-5-seed3" || last.Run.Seed != 3 || last.Run.Model.Value.Channels() != 64 || last.Run.Training.Steps != 50 {
		t.Errorf("%s: %+v", last.Name(), last.Run)
	}
	f, err = ParseFile([]byte(`{"name": "g", "base": {"task": {"copy": {}}, "seed": 9}}`))
	if err != nil {
		t.Fatal(err)
	}
	cells, err = f.Cells("dir", resolve)
	if err != nil || len(cells) != 1 || cells[0].Name() != "base-seed1" || cells[0].Run.Name != "g/base" {
		t.Errorf("%+v, %v", cells, err)
	}
	f, err = ParseFile([]byte(`{"name": "g", "base": "own-pairs", "grid": {"model.halting": [{"frozen": {"max_steps": 4, "epsilon": 0.01}}], "model.halting.frozen.bias": [-1, 1, -2.5e0]}}`))
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil || len(points) != 3 || !strings.HasSuffix(points[0].Name, "bias=-1") || !strings.HasSuffix(points[1].Name, "bias=1") || !strings.HasSuffix(points[2].Name, "bias=-2.5e0") {
		t.Errorf("%+v, %v", points, err)
	}
	f, err = ParseFile([]byte(`{"name": "g", "base": {"task": {"labels": {"path": "a"}}, "training": {"steps": 500}}, "grid": {"model.width": [32, 64]}}`))
	if err != nil {
		t.Fatal(err)
	}
	cells, err = f.Cells("dir", resolve)
	if err != nil || len(cells) != 2 || cells[0].Run.Training.LabelSmoothing != 0.1 || cells[0].Run.Model.Value.Kind() != task.Classification {
		t.Errorf("labels: %+v, %v", cells, err)
	}
	f, err = ParseFile([]byte(`{"name": "g", "base": "own-pairs", "seeds": 4, "grid": {"training.steps": [20, 30]}}`))
	if err != nil || len(f.Seeds) != 4 || f.Seeds[3] != 4 {
		t.Errorf("%+v, %v", f.Seeds, err)
	}
}

// What makes no sense is an error that names the field and says what would.
// Caught when planted: null read as the seed 0, or as an empty assignment.
func TestFileErrors(t *testing.T) {
	for want, text := range map[string]string{
		"name is missing":                            `{"base": "own-pairs"}`,
		`name is "a/b"`:                              `{"name": "a/b", "base": "own-pairs"}`,
		`name is "CON:"`:                             `{"name": "CON:", "base": "own-pairs"}`,
		`name is "nul.txt"`:                          `{"name": "nul.txt", "base": "own-pairs"}`,
		`the name "COM1" is`:                         `{"name": "g", "base": "own-pairs", "variants": {"COM1": []}}`,
		`the name "a." is`:                           `{"name": "g", "base": "own-pairs", "variants": {"a.": []}}`,
		"base is missing":                            `{"name": "g"}`,
		"base is 3":                                  `{"name": "g", "base": 3}`,
		`did you mean "variants"`:                    `{"name": "g", "base": "own-pairs", "variant": {}}`,
		`recipe "x" is not known`:                    `{"name": "g", "base": "x"}`,
		"base: ":                                     `{"name": "g", "base": {"modle": 3}}`,
		`set: key "model.widht" is not known`:        `{"name": "g", "base": "own-pairs", "set": ["model.widht=3"]}`,
		"grid.model.width is empty":                  `{"name": "g", "base": "own-pairs", "grid": {"model.width": []}}`,
		"grid.model.width is 3":                      `{"name": "g", "base": "own-pairs", "grid": {"model.width": 3}}`,
		`grid has the field "seed"`:                  `{"name": "g", "base": "own-pairs", "grid": {"seed": [1]}}`,
		"grid is []":                                 `{"name": "g", "base": "own-pairs", "grid": []}`,
		`key "model.width" is given twice`:           `{"name": "g", "base": "own-pairs", "grid": {"model.width": [32], "model.width": [64]}}`,
		`"a" is given twice`:                         `{"name": "g", "base": "own-pairs", "variants": {"A": [], "a": []}}`,
		"is not a valid file name":                   `{"name": "g", "base": "own-pairs", "variants": {"a b": []}}`,
		"variants.a is 3: it must be a list":         `{"name": "g", "base": "own-pairs", "variants": {"a": 3}}`,
		"variants.a is null":                         `{"name": "g", "base": "own-pairs", "variants": {"a": null}}`,
		`two cells have the name "width=32"`:         `{"name": "g", "base": "own-pairs", "grid": {"model.width": [32, 32]}}`,
		"seeds is 0":                                 `{"name": "g", "base": "own-pairs", "seeds": 0}`,
		"seeds is []":                                `{"name": "g", "base": "own-pairs", "seeds": []}`,
		"seeds lists 2 twice":                        `{"name": "g", "base": "own-pairs", "seeds": [2, 3, 2]}`,
		"seeds is 1.5":                               `{"name": "g", "base": "own-pairs", "seeds": 1.5}`,
		"more than 1000 runs":                        `{"name": "g", "base": "own-pairs", "seeds": 500, "grid": {"model.width": [32, 64, 96]}}`,
		"measure.from is -1":                         `{"name": "g", "base": "own-pairs", "measure": {"from": -1, "mix": 4}}`,
		"measure.from is 5 and mix is 0":             `{"name": "g", "base": "own-pairs", "measure": {"from": 5}}`,
		"measure.length is 3 and mix is 4":           `{"name": "g", "base": "own-pairs", "measure": {"length": 3, "mix": 4}}`,
		"measure.count is -1":                        `{"name": "g", "base": "own-pairs", "measure": {"count": -1}}`,
		"measure.file is given with other":           `{"name": "g", "base": "own-pairs", "measure": {"count": 1, "file": "x"}}`,
		`a,steps=0: training.steps is 0`:             `{"name": "g", "base": "own-pairs", "variants": {"a": []}, "grid": {"training.steps": [0]}}`,
		"base: task.labels.path is empty":            `{"name": "g", "base": {"name": "x", "task": {"labels": {}}}, "set": ["training.steps=50"]}`,
		"a,width=32 and b,width=32 are the same run": `{"name": "g", "base": "own-pairs", "variants": {"a": ["model.width=64"], "b": []}, "grid": {"model.width": [32]}}`,
		"are the same run: another assignment":       `{"name": "g", "base": "own-pairs", "grid": {"model.width": [32, 64], "model.encoder_decoder.width": [96]}}`,
		"set has the field seed":                     `{"name": "g", "base": "own-pairs", "set": ["seed=7"]}`,
		"variants.a has the field seed":              `{"name": "g", "base": "own-pairs", "variants": {"a": ["seed=7"]}}`,
		"base: task is missing":                      `{"name": "g", "base": {"name": "x"}}`,
		"set: training.steps is 0":                   `{"name": "g", "base": "own-pairs", "set": ["training.steps=0"]}`,
		"seeds is [1, null]: it must be a number":    `{"name": "g", "base": "own-pairs", "seeds": [1, null]}`,
		"seeds is null: it must be a number":         `{"name": "g", "base": "own-pairs", "seeds": null}`,
		"variants.a is [null]: it must be a list":    `{"name": "g", "base": "own-pairs", "variants": {"a": [null]}}`,
		"grid.model.width is null: it must be":       `{"name": "g", "base": "own-pairs", "grid": {"model.width": null}}`,
		"width cannot be null: leave the key out":    `{"name": "g", "base": "own-pairs", "grid": {"model.width": [32, null]}}`,
		`variants is null`:                           `{"name": "g", "base": "own-pairs", "variants": null}`,
		"ends before the value does":                 `{"name": "g"`,
	} {
		f, err := ParseFile([]byte(text))
		if err == nil {
			_, err = f.Cells("dir", resolve)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Whatever a file holds, it is refused in one line, or its cells have different names that can be those of files.
func FuzzParseFile(f *testing.F) {
	f.Add([]byte(`{"name": "g", "base": "own-pairs", "set": ["training.steps=50"], "variants": {"z": ["model.width=32"], "a": []}, "grid": {"model.width": [32, 64]}, "seeds": 3}`))
	f.Add([]byte(`{"name": "g", "base": {"task": {"copy": {}}, "seed": 9}, "seeds": [1, 2], "measure": {"count": 3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		cells, err := file.Cells("dir", resolve)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, c := range cells {
			if err := errors.Join(checkName(c.Recipe), c.Run.Validate()); err != nil || names[c.Name()] {
				t.Errorf("%s: %v, twice %v", c.Name(), err, names[c.Name()])
			}
			names[c.Name()] = true
		}
	})
}
