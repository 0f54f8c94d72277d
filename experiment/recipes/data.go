package recipes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/task/agreement"
	"universal-transformer/task/babi"
	"universal-transformer/task/lambada"
	"universal-transformer/task/translation"
)

// WithData returns the recipe's run with the paths of its needs, by their names. A need without a path keeps its default; names of other
// recipes' needs are ignored. A stand-in is used by the recipes of the task that its file names.
func (r Recipe) WithData(paths map[string]string) (experiment.Run, error) {
	run := r.Run()
	for _, n := range r.Needs {
		path := paths[n.Name]
		if path == "" && n.File != "" {
			path = n.Default // whose file may be uncompressed
		}
		if path == "" {
			continue
		}
		if n.Name == standIn {
			applies, err := standInApplies(run, path)
			if err != nil {
				return run, err
			}
			if !applies {
				continue
			}
		}
		value, err := json.Marshal(n.path(path))
		if err != nil {
			return run, fmt.Errorf("%s: %w", n.Name, err)
		}
		if run, err = run.Set(n.Field + "=" + string(value)); err != nil {
			return run, fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return run, nil
}

// path returns the value of a need's field, given the path of the need. A compressed file may also be present uncompressed.
func (n Need) path(path string) string {
	if n.File == "" {
		return path
	}
	file := filepath.Join(path, n.File)
	if unpacked := strings.TrimSuffix(file, ".gz"); exists(file) != nil && exists(unpacked) == nil {
		return unpacked
	}
	return file
}

// standInApplies reports whether a stand-in is for the run's task. It returns an error if the file does not exist or its name has no task.
func standInApplies(r experiment.Run, file string) (bool, error) {
	d, ok := r.Task.Value.(babi.Babi)
	if !ok {
		return false, nil
	}
	d.StandIn = file
	anyTask := d
	anyTask.Task = 0
	if err := anyTask.Validate(); err != nil {
		return false, err
	}
	return d.Validate() == nil, exists(file)
}

// A DataCheck finds missing data files of runs. It reads each bAbI distribution once. The zero value is ready to use.
type DataCheck struct{ distributions map[string]*babi.Distribution }

// WithData is like that of the recipe, but it uses a stand-in only if the distribution lacks a file that the recipe needs without it.
func (c *DataCheck) WithData(r Recipe, paths map[string]string) (experiment.Run, error) {
	run, err := r.WithData(paths)
	d, ok := run.Task.Value.(babi.Babi)
	if err != nil || !ok || d.StandIn == "" || d.StandIn != paths[standIn] {
		return run, err
	}
	if d.StandIn = ""; c.missingBabi(d) != nil {
		return run, nil
	}
	paths = maps.Clone(paths)
	delete(paths, standIn)
	return r.WithData(paths)
}

// Missing returns an error that names the first missing file of a run, wrapping fs.ErrNotExist. Tasks that generate their data need none.
func (c *DataCheck) Missing(r experiment.Run) error {
	switch d := r.Task.Value.(type) {
	case babi.Babi:
		return c.missingBabi(d)
	case agreement.Number:
		return numpredMissing(d.Path)
	case agreement.Classes:
		return numpredMissing(d.Path)
	case agreement.Verbs:
		return exists(d.Path)
	case agreement.Pairs:
		return cmp.Or(exists(d.Path), exists(d.Text))
	case agreement.Forms:
		return formsMissing(d)
	case agreement.TextForms:
		if d.Text == "" {
			return formsMissing(d.Forms)
		}
		return cmp.Or(formsMissing(d.Forms), exists(d.Text))
	case lambada.Language:
		return lambadaMissing(d.Data)
	case lambada.Reading:
		return lambadaMissing(d.Data)
	case translation.Translation:
		if d.Path != "" {
			return exists(d.Path)
		}
	}
	return nil
}

func (c *DataCheck) missingBabi(d babi.Babi) error {
	if d.StandIn != "" {
		if err := exists(d.StandIn); err != nil {
			return err
		}
	}
	distribution := c.distributions[d.Path]
	if distribution == nil {
		var err error
		if distribution, err = babi.Open(d.Path); err != nil {
			return err
		}
		if c.distributions == nil {
			c.distributions = map[string]*babi.Distribution{}
		}
		c.distributions[d.Path] = distribution
	}
	return distribution.Missing(d)
}

func lambadaMissing(d lambada.Data) error {
	if d.Prose == "" { // the authors' archive contains the novels
		return exists(d.Path)
	}
	return cmp.Or(exists(filepath.Join(d.Path, lambada.Test)), exists(d.Prose))
}

func formsMissing(d agreement.Forms) error {
	return cmp.Or(numpredMissing(d.Path), exists(d.Pairs))
}

func numpredMissing(folder string) error {
	names := []string{"numpred.val"}
	for k := 1; k <= 5; k++ {
		names = append(names, fmt.Sprintf("numpred.test.%d", k))
	}
	for _, name := range names {
		if err := exists(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// exists returns an error if a file or folder does not exist.
func exists(path string) error {
	_, err := os.Stat(path)
	return err
}
