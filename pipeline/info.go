package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/internal/provenance"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// The values of Info.Status.
const (
	Running     = "running"     // a process is writing the run
	Finished    = "finished"    // all updates of the configuration are made and saved, or training.stop has ended it
	Interrupted = "interrupted" // it can be resumed
	Diverged    = "diverged"    // the loss or the gradient was not finite; it can be resumed with a lower learning rate
	WeightsOnly = "weights"     // it was exported or imported, and training cannot be resumed from it
	Damaged     = "damaged"     // a file that the model needs cannot be read
)

// Info describes a run directory.
type Info struct {
	Run         string      `json:"run"`        // the directory
	Status      string      `json:"status"`     // running, finished, interrupted, diverged, weights or damaged
	Problem     string      `json:"problem"`    // of a damaged run; "" if there is none
	Experiment  string      `json:"experiment"` // the configuration's name
	Task        string      `json:"task"`
	Data        []DataFile  `json:"data"`
	Model       string      `json:"model"`              // one line
	Recurrent   string      `json:"-"`                  // the recurrent step, in one line; "" for models without
	Parameters  int         `json:"parameters"`         // 0 before the first checkpoint
	Step        int64       `json:"step"`               // updates so far
	Steps       int64       `json:"steps"`              // updates of the configuration
	Stopped     string      `json:"stopped"`            // "accuracy", "perfect" or "patience" if that ended training before the last update
	Diverged    int64       `json:"diverged,omitempty"` // the update at which training diverged; 0 if it did not
	Best        *Validation `json:"best"`               // of the best checkpoint; null if there is none
	Unmarked    string      `json:"unmarked,omitempty"` // why no checkpoint is marked as the best; "" if one is, or if there is none
	Used        int64       `json:"used,omitempty"`     // update of the checkpoint that is used instead; 0 if one is marked, or if there is none
	Newest      *Validation `json:"newest"`             // null before the first validation
	Checkpoints []int64     `json:"checkpoints"`
	Seconds     float64     `json:"seconds"`                // of training, up to the newest checkpoint
	CPUSeconds  float64     `json:"cpu_seconds"`            // of all processes that trained it; 0 in runs of earlier versions
	Backend     string      `json:"backend"`                // of the newest of these processes; "" in runs of earlier versions
	ChangedData string      `json:"changed_data,omitempty"` // data that changed between these processes, and were accepted

	weightsOnly   bool
	bestStep      int64 // that the newest checkpoint names as the best so far; 0: there was no validation
	validationDue bool  // the newest checkpoint is of an interruption before a validation
}

// A DataFile is a file or folder that the configuration names.
type DataFile struct {
	Field string `json:"field"` // "task.table.path"
	Path  string `json:"path"`  // where it is, or where it should be
	Found bool   `json:"found"`
}

// A Validation holds the figures of one validation during training.
type Validation struct {
	Step    int64    `json:"step"`
	Metrics []Figure `json:"metrics"`
}

// A Figure is a number of a validation.
type Figure struct {
	Name  string  `json:"name"` // as in metrics.jsonl: "cross_entropy", "token_accuracy", ...
	Value float64 `json:"value"`
}

// Figure returns the number with a name.
func (v *Validation) Figure(name string) (float64, bool) {
	if v != nil {
		for _, f := range v.Metrics {
			if f.Name == name {
				return f.Value, true
			}
		}
	}
	return 0, false
}

// ReadInfo describes the run in a directory without computing anything. The error is [runlog.ErrNotRun] if there is no run; a run that is
// damaged is described as far as it can be read.
func ReadInfo(dir string) (Info, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return Info{}, err
	}
	i := Info{Run: dir, Data: []DataFile{}, Checkpoints: []int64{}}
	i.damage(i.readConfiguration(log))
	i.damage(i.readMetrics(log))
	i.damage(i.readCheckpoints(log))
	i.explainMark(log)
	i.damage(i.readSessions(log))
	err = i.readVocabularies(log)
	if len(i.Checkpoints) > 0 || !errors.Is(err, fs.ErrNotExist) {
		i.damage(err)
	}
	switch {
	case log.InUse():
		i.Status = Running
	case i.Problem != "":
		i.Status = Damaged
	case i.weightsOnly:
		i.Status = WeightsOnly
	case i.saved() >= i.Steps && !i.validationDue || i.Stopped != "":
		i.Status = Finished
	case i.Diverged > 0:
		i.Status = Diverged
	default:
		i.Status = Interrupted
	}
	return i, nil
}

// saved returns the update of the newest checkpoint, 0 if there is none. More updates may have been made, whose checkpoint could not be saved.
func (i *Info) saved() int64 { return slices.Max(append([]int64{0}, i.Checkpoints...)) }

// damage records the first problem, in one line.
func (i *Info) damage(err error) {
	if err != nil && i.Problem == "" {
		i.Problem, _, _ = strings.Cut(err.Error(), "\n")
	}
}

func (i *Info) readConfiguration(log *runlog.Run) error {
	var r experiment.Run
	if err := readConfig(log, &r); err != nil {
		return err
	}
	i.Experiment, i.Steps = r.Name, r.Training.Steps
	i.Task = r.TaskName()
	var foreign *experiment.MissingTypeError
	if err := r.Validate(); errors.As(err, &foreign) {
		return nil // a type of another module
	} else if err != nil {
		return fmt.Errorf("%s: %w", configFile, err)
	}
	i.Model = r.Model.Value.Describe()
	if u, ok := r.Model.Value.(experiment.UniversalKind); ok {
		i.Recurrent = u.Step().DescribeStep()
	}
	r, err := withFoundFiles(log, r, nil)
	for _, f := range r.Files() {
		_, missing := os.Stat(f.Path)
		i.Data = append(i.Data, DataFile{f.Field, f.Path, missing == nil})
	}
	return err
}

// readVocabularies checks the files that define the ids.
func (i *Info) readVocabularies(log *runlog.Run) error {
	v, err := readVocabularies(log)
	if r, problem := readRun(log, experiment.Extensions{}); problem == nil && err == nil {
		return checkSides(r, v)
	}
	return err
}

// readMetrics reads the newest validation.
func (i *Info) readMetrics(log *runlog.Run) error {
	rows, err := log.Metrics()
	for _, row := range rows {
		i.Step = max(i.Step, row.Step())
		if row["split"] == "validation" {
			i.Newest = validation(row)
		}
	}
	best, marked, problem := log.Marked()
	for _, row := range rows {
		if marked && row.Step() == best && row["split"] == "validation" {
			i.Best = validation(row)
		}
	}
	if marked && i.Best == nil {
		i.Best = &Validation{best, []Figure{}}
	}
	return cmp.Or(err, problem)
}

// explainMark says why no checkpoint is marked as the best, if none is, and which one [Load] chooses.
func (i *Info) explainMark(log *runlog.Run) {
	if i.Best != nil || len(i.Checkpoints) == 0 {
		return
	}
	switch _, _, err := log.Marked(); {
	case err != nil:
		i.Unmarked = "best.json cannot be read"
	case i.bestStep > 0 || i.Newest != nil || i.weightsOnly:
		i.Unmarked = "best.json is missing"
	default:
		i.Unmarked = "there was no validation yet"
	}
	if i.Used = i.saved(); slices.Contains(i.Checkpoints, i.bestStep) {
		i.Used = i.bestStep
	}
}

func validation(row runlog.Row) *Validation {
	v := &Validation{row.Step(), []Figure{}}
	for _, name := range slices.SortedFunc(maps.Keys(row), byImportance) {
		if n, ok := row.Number(name); ok && name != "step" {
			v.Metrics = append(v.Metrics, Figure{name, n})
		}
	}
	return v
}

// byImportance compares the names of figures: first those of decoded answers, then those that every validation has, then sums.
func byImportance(a, b string) int {
	rank := func(name string) int {
		common := []string{"cross_entropy", "token_accuracy", "sequence_accuracy", "encoder_ponder", "decoder_ponder"}
		if at := slices.Index(common, name); at >= 0 || strings.HasPrefix(name, "decoded_") {
			return at
		}
		return len(common)
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

// readCheckpoints reads the best and the newest checkpoint.
func (i *Info) readCheckpoints(log *runlog.Run) error {
	steps, err := log.Steps()
	if err != nil {
		return err
	}
	i.Checkpoints = append(i.Checkpoints, slices.DeleteFunc(steps, func(s int64) bool { return s == 0 })...)
	var damaged error
	if i.Best != nil {
		_, damaged = log.Best()
	}
	c, refused, err := log.Latest()
	switch {
	case errors.Is(err, runlog.ErrNoCheckpoint) && len(refused) == 0:
		return damaged
	case err != nil:
		return cmp.Or(damaged, err)
	case len(refused) > 0:
		damaged = cmp.Or(damaged, fmt.Errorf("%s", refused[0]))
	}
	saved, err := training.SavedIn(c)
	i.weightsOnly = c.Meta[training.StateKey] == ""
	i.Step, i.Seconds, i.Parameters = max(i.Step, c.Step), saved.Seconds, saved.Parameters
	i.bestStep, i.validationDue = saved.BestStep, saved.ValidationDue
	if i.unchanged(log, c) {
		i.Stopped = saved.Stopped
	}
	return cmp.Or(damaged, err)
}

// unchanged reports whether a checkpoint was trained under the present configuration; otherwise an earlier stop does not apply.
func (i *Info) unchanged(log *runlog.Run, c *runlog.Checkpoint) bool {
	var r experiment.Run
	trained := c.Meta[training.ConfigurationKey]
	return trained == "" || log.Config(&r) == nil && r.Digest() == trained
}

func (i *Info) readSessions(log *runlog.Run) error {
	sessions, err := readSessions(log)
	wall := 0.0
	for _, s := range sessions {
		i.CPUSeconds += s.CPUSeconds
		wall += s.WallSeconds
		i.Backend, i.Diverged = s.Backend, s.Diverged
	}
	i.ChangedData = provenance.Merge(sessions).ChangedData
	i.Seconds = cmp.Or(i.Seconds, wall) // before the first checkpoint
	return err
}

// TrainingSeconds returns the training time that the model's checkpoint records.
func (m *Model) TrainingSeconds() float64 {
	saved, err := training.SavedIn(m.checkpoint)
	if err != nil {
		return 0
	}
	return saved.Seconds
}

// Parameters returns the number of the model's parameters.
func (m *Model) Parameters() (n int) {
	saved, err := training.SavedIn(m.checkpoint)
	if err != nil {
		return 0
	}
	return saved.Parameters
}
