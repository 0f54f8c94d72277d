package report

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/sweep"
)

// DepthFile is the evaluation of some runs at many depths, as the program prints it as JSON.
type DepthFile struct {
	Name string // of the file, without .json: "reverse"
	Runs []depthRun
}

// depthRun is one run of a DepthFile.
type depthRun struct {
	Version    string       `json:"version"` // of the build that measured: "0.2.0+70be9d05caaf"
	Run        string       `json:"run"`
	Experiment string       `json:"experiment"`
	Checkpoint int64        `json:"checkpoint"`
	Task       string       `json:"task"`
	Examples   int          `json:"examples"`
	Lengths    string       `json:"lengths"`
	Method     string       `json:"method"`
	Metric     string       `json:"metric"`
	Points     []depthPoint `json:"points"`
}

// depthPoint is a run with one exit: its quality and the mean number of steps of the positions that are read out.
type depthPoint struct {
	Rule       string         `json:"rule"`
	Setting    float64        `json:"setting"`
	Exit       string         `json:"exit"`
	Quality    float64        `json:"quality"`
	Metrics    []score.Metric `json:"metrics"`
	Steps      float64        `json:"steps"`
	Encoder    float64        `json:"encoder_steps"`
	Decoder    float64        `json:"decoder_steps"`
	Readouts   float64        `json:"extra_readouts"`
	Operations float64        `json:"operations"`
	Seconds    float64        `json:"seconds"`
}

// depthRules are the rules of points.
var depthRules = []string{"trained", "fixed", "limit", "threshold", "confidence", "unchanged", "divergence"}

// ReadDepth reads the JSON files in the folder depth below the results strictly, by name. There may be none.
func ReadDepth(root string) (list []DepthFile, err error) {
	folder := filepath.Join(root, sweep.DepthFolder)
	files, err := jsonFiles(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		file := filepath.Join(folder, name)
		d := DepthFile{Name: strings.TrimSuffix(name, ".json")}
		err := readJSON(file, &d.Runs)
		if err == nil {
			err = d.validate()
		}
		if err != nil {
			return nil, damaged(file, err, "remove the file, or measure these models again")
		}
		list = append(list, d)
	}
	return list, nil
}

// validate returns an error that names the first run, point and field without a sensible value.
func (d DepthFile) validate() error {
	if len(d.Runs) == 0 {
		return errors.New("it has no runs")
	}
	names := map[string]bool{}
	for _, r := range d.Runs {
		switch {
		case names[r.Run] || r.Run == "":
			return fmt.Errorf("run is %q: every run has a name of its own", r.Run)
		case r.Metric != d.Runs[0].Metric:
			return fmt.Errorf("%s: metric is %q, that of %s is %q", r.Run, r.Metric, d.Runs[0].Run, d.Runs[0].Metric)
		case r.Version == "" || r.Experiment == "" || r.Task == "" || r.Lengths == "" || r.Method == "":
			return fmt.Errorf("%s: version, experiment, task, lengths or method is empty", r.Run)
		case r.Checkpoint < 1 || r.Examples < 1:
			return fmt.Errorf("%s: checkpoint is %d and examples %d: they must be positive", r.Run, r.Checkpoint, r.Examples)
		case len(r.Points) == 0 || r.Points[0].Rule != "trained":
			return fmt.Errorf("%s does not begin with the point as trained", r.Run)
		}
		names[r.Run] = true
		for i, q := range r.Points {
			if err := q.validate(r.Metric); err != nil {
				return fmt.Errorf("%s: points[%d]: %w", r.Run, i, err)
			}
			if i > 0 && slices.ContainsFunc(r.Points[:i], func(before depthPoint) bool { return before.Rule == q.Rule && before.Setting == q.Setting }) {
				return fmt.Errorf("%s: points[%d]: %s %v is there twice", r.Run, i, q.Rule, q.Setting)
			}
		}
	}
	return nil
}

// validate returns an error that names the first field without a sensible value. The quality is the value of the named metric.
func (q depthPoint) validate(metric string) error {
	if !slices.Contains(depthRules, q.Rule) {
		return fmt.Errorf("rule is %q: choose from %s", q.Rule, strings.Join(depthRules, ", "))
	}
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"setting", q.Setting}, {"encoder_steps", q.Encoder}, {"decoder_steps", q.Decoder}, {"extra_readouts", q.Readouts},
		{"operations", q.Operations}, {"seconds", q.Seconds},
	} {
		if !(f.value >= 0) {
			return fmt.Errorf("%s is %v: it must not be negative", f.name, f.value)
		}
	}
	at := slices.IndexFunc(q.Metrics, func(m score.Metric) bool { return m.Name == metric })
	switch {
	case (q.Setting == 0) != (q.Rule == "trained") || (q.Exit == "") != (q.Rule == "trained"):
		return fmt.Errorf("rule is %s, setting %v, exit %q: all but the point as trained have a setting and an exit", q.Rule, q.Setting, q.Exit)
	case at < 0 || q.Metrics[at].Value != q.Quality:
		return fmt.Errorf("quality is %v, which is not the %s of metrics", q.Quality, metric)
	case !(q.Steps > 0) || q.Steps != q.Encoder && q.Steps != q.Decoder:
		return fmt.Errorf("steps is %v: it must be encoder_steps, %v, or decoder_steps, %v", q.Steps, q.Encoder, q.Decoder)
	case math.IsInf(q.Quality, 0):
		return fmt.Errorf("quality is %v", q.Quality)
	}
	return nil
}
