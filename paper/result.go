package paper

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/strictjson"
)

// Result is one finished cell.
type Result struct {
	Header
	Measured Measured        `json:"measured"`
	Config   json.RawMessage `json:"config"` // the run, as the version that wrote it writes runs
}

// Header is what the results of all tables have.
type Header struct {
	Version            string  `json:"version"`    // of the program, with the commit where it was known
	Experiment         string  `json:"experiment"` // "babi-10k-single"
	Model              string  `json:"model"`      // in words
	Task               string  `json:"task"`       // its label: "task01", "joint"
	Seed               uint64  `json:"seed"`
	Data               string  `json:"data"` // in words
	Parameters         int     `json:"parameters"`
	Step               int64   `json:"step"`                 // updates made
	BestStep           int64   `json:"best_step"`            // of the checkpoint that was chosen
	Validation         float64 `json:"validation,omitempty"` // cross entropy of that checkpoint, nats a token
	ChosenBy           string  `json:"chosen_by"`            // how checkpoints were compared; of several criteria, the later ones break ties
	Stopped            string  `json:"stopped"`              // why training ended: "done", "accuracy", "patience"
	Seconds            float64 `json:"seconds"`              // of training, validations included
	ExamplesPerSecond  float64 `json:"examples_per_second"`
	PositionsPerSecond float64 `json:"positions_per_second"`
	Threads            int     `json:"threads"` // that the run could use
}

// name is where the cell's files stand, below a folder of runs or of results: "babi-10k-single/task01-seed1".
func name(experiment, task string, seed uint64) string {
	return fmt.Sprintf("%s/%s-seed%d", experiment, task, seed)
}

// Name is the name of the cell whose result it is.
func (h Header) Name() string { return name(h.Experiment, h.Task, h.Seed) }

// File is where the result stands below a folder of results.
func (h Header) File() string { return filepath.FromSlash(h.Name()) + ".json" }

// Beside is a file that stands beside the result, below the same folder: a figure.
func (h Header) Beside(suffix string) string { return filepath.FromSlash(h.Name()) + "-" + suffix }

// run is the configuration of a result. ok is false if another version wrote it, in a form that this one does not read.
func (r Result) run() (run experiment.Run, ok bool) {
	run, err := experiment.Decode(r.Config)
	return run, err == nil
}

// Read reads one result, strictly.
func Read(path string) (r Result, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if r, err = decode(data); err != nil {
		return r, fmt.Errorf("%s: %w: remove the file to repeat the run", path, err)
	}
	return r, nil
}

// position is a place within a part of a file, which nobody can look up.
var position = regexp.MustCompile(`line \d+, column \d+: `)

func decode(data []byte) (r Result, err error) {
	var stored struct {
		Header
		Measured json.RawMessage `json:"measured"`
		Config   json.RawMessage `json:"config"`
	}
	if err := strictjson.Decode(data, &stored); err != nil {
		return r, err
	}
	r.Header, r.Config = stored.Header, stored.Config
	if len(r.Config) == 0 {
		return r, errors.New("config is missing")
	}
	t := tableOf(r.Experiment)
	if t == nil {
		return r, fmt.Errorf("no table has an experiment %q", r.Experiment)
	}
	if len(stored.Measured) == 0 {
		return r, errors.New("measured is missing")
	}
	r.Measured = t.New()
	if err := strictjson.Decode(stored.Measured, r.Measured); err != nil {
		return r, fmt.Errorf("measured: %s", position.ReplaceAllString(err.Error(), ""))
	}
	if err := r.Measured.Validate(); err != nil {
		return r, fmt.Errorf("measured.%w", err)
	}
	return r, nil
}

// tableOf is the table that has an experiment; nil if none has.
func tableOf(experiment string) *Table {
	for _, t := range Tables {
		if slices.ContainsFunc(t.Experiments, func(e Experiment) bool { return e.Name == experiment }) {
			return t
		}
	}
	return nil
}

// Save puts a result below a folder, whole or not at all.
func (r Result) Save(root string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(root, r.File())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// ReadAll reads every result below a folder, in the order of experiment, task and seed. There may be none.
// A folder of runs is refused: those are no results.
func ReadAll(root string) (results []Result, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if _, missing := os.Stat(filepath.Join(path, "config.json")); missing == nil && entry.IsDir() {
			return fmt.Errorf("%s is a folder of runs, not of results: name the results, which ut experiment run keeps in a folder of their own", root)
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		r, err := Read(path)
		if want := filepath.Join(root, r.File()); err == nil && filepath.Clean(path) != want {
			err = fmt.Errorf("%s is the result of %s: its name must be %s", path, r.Name(), want)
		}
		results = append(results, r)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Experiment, b.Experiment), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Seed, b.Seed))
	})
	return results, err
}
