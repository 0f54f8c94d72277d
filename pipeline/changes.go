package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// This file determines which changes of the configuration are allowed on resume, and records them.

// A change is a change of the configuration of a resumed run.
type change struct {
	Step   int64    `json:"step"`   // of the checkpoint that training continued from
	Set    []string `json:"set"`    // the assignments
	Before string   `json:"before"` // digests of the configuration
	After  string   `json:"after"`
}

// changesFile records all changes, in order. A change is written there before it is written to config.json, so that a run that is killed
// in between, or before its next checkpoint, can be resumed.
const changesFile = "changes.json"

type changes struct {
	Changes []change `json:"changes"`
}

func readChanges(log *runlog.Run) (all changes, err error) {
	if err = log.ReadJSON(changesFile, &all); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// An EditedError means that a run's config.json has been edited since its checkpoint was written, other than by [Resume].
type EditedError struct {
	Dir  string // of the run
	Step int64  // of the checkpoint
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("%s: checkpoint of update %d was trained under another config.json, which has been edited since: restore it; "+
		"what may change can be set when the run is resumed", e.Dir, e.Step)
}

// checkConfiguration returns an [EditedError] if a checkpoint was trained under a configuration from which no recorded change leads to
// the present one.
func checkConfiguration(log *runlog.Run, r experiment.Run, c *runlog.Checkpoint) error {
	trained := c.Meta[training.ConfigurationKey]
	if trained == "" || trained == r.Digest() { // earlier versions did not record it
		return nil
	}
	recorded, err := readChanges(log)
	if err != nil {
		return fmt.Errorf("%s: %w", log.Dir(), err)
	}
	reachable := map[string]bool{trained: true}
	for _, change := range recorded.Changes {
		reachable[change.After] = reachable[change.After] || reachable[change.Before]
	}
	if reachable[r.Digest()] {
		return nil
	}
	return &EditedError{Dir: log.Dir(), Step: c.Step}
}

// changeable are the fields that may change when a run is resumed; fixed gives the reasons why no other may.
var (
	changeable = []string{
		"training.steps", "training.schedule", "training.log_every", "training.evaluate_every", "training.checkpoint_every", "training.keep", "training.events", "training.stop",
	}
	fixed = []struct{ path, reason string }{
		{"task", "the weights have learned from its data"}, {"source_end", "the weights have learned from sources that end as before"},
		{"model", "the weights are those of this model"},
		{"seed", "everything random so far depends on it"}, {"name", "a run keeps its name"},
		{"training", "the updates so far were made with it"},
	}
)

// changedRun applies assignments to a run's configuration. Assigning a field that must not change is an error that gives the reason.
func changedRun(log *runlog.Run, r experiment.Run, assignments []string) (experiment.Run, error) {
	var others []string
	moved := r
	for _, assignment := range assignments {
		if elsewhere, err := withMovedFiles(log, moved, []string{assignment}); err == nil {
			moved = elsewhere
			continue
		}
		if path, _, _ := strings.Cut(assignment, "="); r.HasField(path) { // else Set says what is meant
			if err := checkChangeable(path); err != nil {
				return r, err
			}
		}
		others = append(others, assignment)
	}
	if _, err := r.Set(assignments...); err != nil {
		return r, err
	}
	for _, assignment := range others {
		path, _, _ := strings.Cut(assignment, "=")
		if err := checkChangeable(path); err != nil {
			return r, err
		}
	}
	return moved.Set(others...)
}

// checkChangeable returns an error with the reason if the field at a path must not change when a run is resumed.
func checkChangeable(path string) error {
	within := func(field string) bool { return path == field || strings.HasPrefix(path, field+".") }
	if slices.ContainsFunc(changeable, within) {
		return nil
	}
	for _, f := range fixed {
		if within(f.path) {
			return fmt.Errorf("%s cannot change on resume: %s; start a new run, or change one of %s", path, f.reason, strings.Join(changeable, ", "))
		}
	}
	return fmt.Errorf("%s cannot change on resume: start a new run, or change one of %s", path, strings.Join(changeable, ", "))
}

// checkSteps returns an error if a run that continues from a step has fewer.
func checkSteps(r experiment.Run, step int64) error {
	if r.Training.Steps < step {
		return fmt.Errorf("training.steps is %d, but update %d is done already: set more updates", r.Training.Steps, step)
	}
	return nil
}

// recordChange writes a changed configuration of a run that continues from a step: first to changes.json, then to config.json.
func recordChange(log *runlog.Run, before, after experiment.Run, step int64, assignments []string) error {
	recorded, err := readChanges(log)
	if err != nil {
		return err
	}
	recorded.Changes = append(recorded.Changes, change{Step: step, Set: assignments, Before: before.Digest(), After: after.Digest()})
	if err := log.WriteJSON(changesFile, recorded); err != nil {
		return err
	}
	return log.WriteConfig(after)
}

// step returns the step that training continues from.
func (t *openRun) step() int64 {
	if t.from == nil {
		return 0
	}
	return t.from.Step
}

// change replaces a configuration from a step on with the run's, if it differs, and records the assignments that changed it.
func (t *openRun) change(before experiment.Run, step int64, assignments []string) error {
	if t.run.Digest() == before.Digest() {
		if string(before.JSON()) == string(t.run.JSON()) {
			return nil
		}
		return t.log.WriteConfig(t.run) // other places of the data
	}
	if err := recordChange(t.log, before, t.run, step, assignments); err != nil {
		return err
	}
	t.callbacks.log(fmt.Sprintf("config.json is changed from update %d on: %s", step, strings.Join(assignments, ", ")))
	t.callbacks.log(rateChange(before, t.run, step)...)
	return nil
}
