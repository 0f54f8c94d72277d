// Package report holds what finished experiments leave, one small JSON file a run, and makes pages of them: ours beside the
// paper's. It sees numbers only, no models.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/strictjson"
)

// Result is one finished run on bAbI.
type Result struct {
	Version    string          `json:"version"`    // of the program, with the commit where it was known
	Experiment string          `json:"experiment"` // "babi-10k-single"
	Model      string          `json:"model"`      // in words
	Task       int             `json:"task"`       // 1 to 20; 0: trained on all
	Seed       uint64          `json:"seed"`
	Data       string          `json:"data"`     // in words; names the stand-in if there was one
	StandIn    string          `json:"stand_in"` // file that was trained on in place of the distribution's, "" for none
	TrainedOn  int             `json:"trained_on"`
	Parameters int             `json:"parameters"`
	Step       int64           `json:"step"`      // updates made
	BestStep   int64           `json:"best_step"` // updates of the checkpoint that was chosen
	Stopped    string          `json:"stopped"`   // why: "done", "accuracy", "patience"
	Seconds    float64         `json:"seconds"`   // of training, looks at the validation set included
	Questions  float64         `json:"questions_per_second"`
	Facts      float64         `json:"facts_per_second"` // positions that were trained on, the questions' own included
	Threads    int             `json:"threads"`          // that the program could use
	Validation Errors          `json:"validation"`       // of the checkpoint that was chosen
	Tests      []Test          `json:"tests"`            // one, or one a task if trained on all
	Config     json.RawMessage `json:"config"`
}

// Errors counts wrong answers.
type Errors struct {
	Questions int `json:"questions"`
	Wrong     int `json:"wrong"`
}

// Percent is the share of wrong answers.
func (e Errors) Percent() float64 {
	if e.Questions == 0 {
		return math.NaN()
	}
	return 100 * float64(e.Wrong) / float64(e.Questions)
}

// Test is the one measurement of a task's test set.
type Test struct {
	Task int `json:"task"`
	Errors
	Ponder []Ponder `json:"ponder"` // of adaptive models
	Looks  []Look   `json:"looks"`  // step by step
}

// Look is how much of its attention the question gave in one step to the facts that answer it: the mean over heads, and over the
// stories whose question ran that far. Uniform is what it would be if the question looked at all positions alike.
type Look struct {
	Stories int     `json:"stories"`
	Share   float64 `json:"share"`
	Uniform float64 `json:"uniform"`
}

// Ponder is a histogram of ponder times over all positions of all stories whose question needs so many facts.
type Ponder struct {
	Supports  int   `json:"supports"`
	Stories   int   `json:"stories"`
	Positions []int `json:"positions"` // how many ran for 1 step, 2 steps, ...
}

// Moments is the number of positions, and the mean and standard deviation of their steps.
func (p Ponder) Moments() (n int, mean, deviation float64) {
	sum, squares := 0.0, 0.0
	for i, count := range p.Positions {
		steps := float64(i + 1)
		n += count
		sum += float64(count) * steps
		squares += float64(count) * steps * steps
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean = sum / float64(n)
	return n, mean, math.Sqrt(max(0, squares/float64(n)-mean*mean))
}

// Add counts a story of which every position ran for so many steps.
func (p *Ponder) Add(steps []int) {
	p.Stories++
	for _, n := range steps {
		for len(p.Positions) < n {
			p.Positions = append(p.Positions, 0)
		}
		p.Positions[n-1]++
	}
}

// Plus adds two histograms.
func (p Ponder) Plus(q Ponder) Ponder {
	sum := Ponder{Supports: p.Supports, Stories: p.Stories + q.Stories, Positions: make([]int, max(len(p.Positions), len(q.Positions)))}
	for i := range sum.Positions {
		if i < len(p.Positions) {
			sum.Positions[i] += p.Positions[i]
		}
		if i < len(q.Positions) {
			sum.Positions[i] += q.Positions[i]
		}
	}
	return sum
}

// File is where the result of a run stands below a folder of results.
func File(root, experiment string, task int, seed uint64) string {
	name := "joint"
	if task != 0 {
		name = fmt.Sprintf("task%02d", task)
	}
	return filepath.Join(root, experiment, fmt.Sprintf("%s-seed%d.json", name, seed))
}

// Read reads one result, strictly.
func Read(path string) (r Result, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := strictjson.Decode(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w: remove the file to repeat the run", path, err)
	}
	for _, t := range r.Tests {
		if t.Task < 1 || t.Task > 20 || t.Questions < 1 || t.Wrong < 0 || t.Wrong > t.Questions {
			return r, fmt.Errorf("%s: a test of task %d has %d wrong answers of %d: remove the file to repeat the run", path, t.Task, t.Wrong, t.Questions)
		}
	}
	if len(r.Tests) == 0 {
		return r, fmt.Errorf("%s: no test: remove the file to repeat the run", path)
	}
	return r, nil
}

// Save puts a result in its place, whole or not at all.
func Save(root string, r Result) (path string, err error) {
	path = File(root, r.Experiment, r.Task, r.Seed)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, err
	}
	return path, atomicfile.Write(path, append(data, '\n'))
}

// ReadAll reads every result below a folder, in the order of experiment, task and seed. There may be none.
func ReadAll(root string) (results []Result, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		r, err := Read(path)
		if err == nil && filepath.Clean(path) != filepath.Clean(File(root, r.Experiment, r.Task, r.Seed)) {
			err = fmt.Errorf("%s holds the result of %s: it was moved", path, File(root, r.Experiment, r.Task, r.Seed))
		}
		results = append(results, r)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		if a.Experiment != b.Experiment {
			if a.Experiment < b.Experiment {
				return -1
			}
			return 1
		}
		if a.Task != b.Task {
			return a.Task - b.Task
		}
		return int(int64(a.Seed) - int64(b.Seed))
	})
	return results, err
}

// how says what was trained, and how.
func (r Result) how() string {
	var c struct {
		Training struct {
			Steps       int64   `json:"steps"`
			WeightDecay float64 `json:"weight_decay"`
		} `json:"training"`
	}
	said := r.Model
	if json.Unmarshal(r.Config, &c) == nil && c.Training.Steps > 0 {
		said += fmt.Sprintf(", at most %d updates", c.Training.Steps)
	}
	if decay := c.Training.WeightDecay; decay > 0 {
		said += fmt.Sprintf(", weight decay %v", decay)
	}
	return fmt.Sprintf("%s, %s, version %s", said, count(r.Threads, "thread"), r.Version)
}
