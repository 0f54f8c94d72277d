// Package sweep runs grids of training runs. It trains the cells of a grid, several at a time, resumes interrupted ones, skips finished ones,
// and writes one JSON file per cell with its measurement, configuration and provenance.
package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/provenance"
	"universal-transformer/internal/regularfile"
	"universal-transformer/internal/strictjson"
)

// Provenance records the build, backend, device, processor and times of training or of a measurement. Empty strings and zeros mean "not
// recorded".
type Provenance = provenance.Provenance

// Measured is the measurement of a trained model. Grids measure different things; the interface lets them share one runner and one format
// of results.
type Measured interface {
	// Validate returns an error that names the first invalid field.
	Validate() error
	// Summary returns one line: "test error 0.4 % of 1000 questions".
	Summary() string
}

// Result is one finished cell. The measurement remains JSON until a reader decodes it into its own type.
type Result struct {
	Header
	Curve    *Curve          `json:"curve,omitempty"` // nil in results of earlier versions
	Measured json.RawMessage `json:"measured"`
	Config   json.RawMessage `json:"config"` // the run, in the form of the version that wrote it
}

// Header holds the common fields of all results.
type Header struct {
	Recipe             string   `json:"recipe"` // "algorithmic-lstm/copy"; in a user's sweep the name of the cell: "lstm,width=64"
	Seed               uint64   `json:"seed"`
	Set                []string `json:"set,omitempty"` // assignments by which the run differs from its recipe, as in experiment.Run.Set
	Model              string   `json:"model"`         // description
	Data               string   `json:"data"`          // description
	Parameters         int      `json:"parameters"`
	Step               int64    `json:"step"`       // number of updates
	BestStep           int64    `json:"best_step"`  // step of the selected checkpoint
	Validation         float64  `json:"validation"` // cross entropy of that checkpoint, nats per token; missing in results of version 0.1
	ChosenBy           string   `json:"chosen_by"`  // criteria for selecting it; later ones break ties
	Stopped            string   `json:"stopped"`    // reason for the end of training: "done", "accuracy", "perfect", "patience"
	Seconds            float64  `json:"seconds"`    // training time, including validations
	ExamplesPerSecond  float64  `json:"examples_per_second"`
	PositionsPerSecond float64  `json:"positions_per_second"`
	Threads            int      `json:"threads"` // threads available to the run
	// DataDigests are digests of the data that were read, by part: "training", "validation", "test". It is nil for tasks that read nothing, and in
	// results of earlier versions.
	DataDigests map[string]string `json:"data_digests,omitempty"`
	TrainedBy   Provenance        `json:"trained_by,omitzero"`
	MeasuredBy  Provenance        `json:"measured_by,omitzero"`
}

// Name returns the name of the result's cell, which is also the path of its files below a folder of runs or results:
// "babi-10k-single/task01-seed1".
func (h Header) Name() string { return fmt.Sprintf("%s-seed%d", h.Recipe, h.Seed) }

// File returns the path of the result below a folder of results.
func (h Header) File() string { return filepath.FromSlash(h.Name()) + ".json" }

// Beside returns the path of a figure of the result below the same folder.
func (h Header) Beside(suffix string) string { return filepath.FromSlash(h.Name()) + "-" + suffix }

// Family returns the part of the recipe's name before the slash.
func (h Header) Family() string { return Family(h.Recipe) }

// Column returns the part of the recipe's name after the slash, or "".
func (h Header) Column() string { return Column(h.Recipe) }

// Family returns the part of a recipe's name before the slash: "algorithmic-lstm".
func Family(recipe string) string { family, _, _ := strings.Cut(recipe, "/"); return family }

// Column returns the part of a recipe's name after the slash, "copy", or "".
func Column(recipe string) string { _, column, _ := strings.Cut(recipe, "/"); return column }

// ProcessorSeconds returns the mean processor time of training over the results that record it. If none does, it is the mean training time on all
// threads; 0 without results.
func ProcessorSeconds(list []Header) float64 {
	recorded, known, wall := 0., 0., 0.
	for _, h := range list {
		if h.TrainedBy.CPUSeconds > 0 {
			recorded, known = recorded+h.TrainedBy.CPUSeconds, known+1
		}
		wall += h.Seconds * float64(max(h.Threads, 1)) / float64(len(list))
	}
	if known > 0 {
		return recorded / known
	}
	return wall
}

// Validate returns an error that names the first invalid field.
func (h Header) Validate() error {
	if err := checkName(h.Recipe); err != nil {
		return fmt.Errorf("recipe is %q: %w", h.Recipe, err)
	}
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"parameters", float64(h.Parameters)}, {"step", float64(h.Step)}, {"best_step", float64(h.BestStep)}, {"validation", h.Validation},
		{"seconds", h.Seconds}, {"examples_per_second", h.ExamplesPerSecond}, {"positions_per_second", h.PositionsPerSecond}, {"threads", float64(h.Threads)},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %v: it must not be negative", f.name, f.value)
		}
	}
	if h.BestStep > h.Step {
		return fmt.Errorf("best_step is %d: it must be at most step, %d", h.BestStep, h.Step)
	}
	if err := h.TrainedBy.Validate(); err != nil {
		return fmt.Errorf("trained_by.%w", err)
	}
	if err := h.MeasuredBy.Validate(); err != nil {
		return fmt.Errorf("measured_by.%w", err)
	}
	return nil
}

// checkName returns an error unless the name is a valid file name on every system. A slash separates folders.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if err := checkFileName(part); err != nil {
			return err
		}
	}
	return nil
}

// checkFileName returns an error unless the name is a valid file name on every system.
func checkFileName(name string) error {
	if !nameForm.MatchString(name) {
		return errors.New("use letters, digits and _ = , . + -, and begin with a letter or digit")
	}
	if base, _, _ := strings.Cut(name, "."); reserved.MatchString(base) || strings.HasSuffix(name, ".") {
		return errors.New("it is not valid on Windows")
	}
	return nil
}

// reserved matches names of devices on Windows, which are reserved with any extension.
var reserved = regexp.MustCompile(`^(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_=,.+-]{0,199}$`)

// Decode decodes the measurement strictly into a value of the type that the reader expects, and validates it.
func (r Result) Decode(into Measured) error {
	err := strictjson.Decode(r.Measured, into)
	if err == nil {
		err = strictjson.Complete(r.Measured, into)
	}
	if err != nil {
		return fmt.Errorf("%s: measured: %w: remove the file to repeat the run", r.File(), strictjson.WithoutPlace(err))
	}
	if err := into.Validate(); err != nil {
		return fmt.Errorf("%s: measured.%w: remove the file to repeat the run", r.File(), err)
	}
	return nil
}

// Read reads one result strictly, including the form of earlier versions. It does not decode the measurement.
func Read(path string) (r Result, err error) {
	data, err := regularfile.Read(path)
	if err != nil {
		return r, cmp.Or(regularfile.Advised(err), err)
	}
	if r, err = Parse(data); err != nil {
		return r, fmt.Errorf("%s: %w: remove the file to repeat the run", path, err)
	}
	return r, nil
}

// Parse reads the content of a result file, strictly.
func Parse(data []byte) (r Result, err error) {
	if old, ok := earlier(data); ok {
		if r, err = old(); err != nil {
			return r, err
		}
	} else {
		if err := strictjson.Decode(data, &r); err != nil {
			return r, err
		}
		if err := strictjson.Complete(data, optionalValidation{}); err != nil {
			return r, err
		}
	}
	for _, part := range []struct {
		name string
		data json.RawMessage
	}{{"measured", r.Measured}, {"config", r.Config}} {
		if text := shortened(part.data); !strings.HasPrefix(text, "{") {
			return r, fmt.Errorf("%s is %s: it must be an object", part.name, cmp.Or(text, "missing"))
		}
	}
	var own struct{ Validation *float64 }
	if err := json.Unmarshal(data, &own); err != nil {
		return r, err
	}
	if own.Validation == nil && !r.withoutValidation() {
		return r, errors.New("validation is missing")
	}
	if err := r.Header.Validate(); err != nil {
		return r, err
	}
	if r.Curve != nil {
		if err := r.Curve.validate(r.Header); err != nil {
			return r, fmt.Errorf("curve.%w", err)
		}
	}
	return r, r.consistent()
}

// Save writes a result below a folder atomically.
func (r Result) Save(root string) error {
	return Save(filepath.Join(root, r.File()), r)
}

// Save writes a value as JSON atomically, and makes the folder of the file.
func Save(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(file, append(data, '\n'))
}

// ErrRuns is the error of a folder that holds run directories where results are expected.
var ErrRuns = errors.New("is a folder of run directories, not of results")

// Folders below results whose files are not results of a grid.
const (
	DepthFolder    = "depth"    // evaluations at many depths
	SearchesFolder = "searches" // sweeps on validation data
	PairedFolder   = "paired"   // paired tests of the translations of two runs
	HaltingFolder  = "halting"  // sweeps that compare objectives of halting
)

var otherFolders = []string{DepthFolder, SearchesFolder, PairedFolder, HaltingFolder}

// ReadAll reads every result below a folder, except in the folders above, in the order of family, column and seed. The list may be empty, as
// the folder may be missing. A folder of run directories is an error, and so are two seeds of a recipe that are the same run.
func ReadAll(root string) (results []Result, err error) {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	folder := root + string(filepath.Separator) // without it, WalkDir does not follow a link
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "config.json")); err == nil {
				return fmt.Errorf("%s %w: name the folder of results", root, ErrRuns)
			}
			if filepath.Dir(path) == filepath.Clean(root) && slices.Contains(otherFolders, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".json" {
			return nil
		}
		r, err := Read(path)
		if want := filepath.Join(root, r.File()); err == nil && filepath.Clean(path) != want {
			err = fmt.Errorf("%s is the result of %s: its name must be %s", path, r.Name(), want)
		}
		results = append(results, r)
		return err
	})
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Family(), b.Family()), cmp.Compare(a.Column(), b.Column()), cmp.Compare(a.Seed, b.Seed))
	})
	return results, cmp.Or(err, repeated(results))
}
