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

// A change is a change of the configuration of a run that is trained further.
type change struct {
	Step   int64    `json:"step"`   // of the checkpoint that training went on from
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

// knownChange returns an error if a checkpoint was trained under a configuration from which no recorded change leads to the present one.
func knownChange(log *runlog.Run, r experiment.Run, c *runlog.Checkpoint) error {
	known := c.Meta[training.ConfigurationKey]
	if known == "" || known == r.Digest() { // earlier versions did not say
		return nil
	}
	recorded, err := readChanges(log)
	if err != nil {
		return err
	}
	led := map[string]bool{known: true}
	for _, change := range recorded.Changes {
		led[change.After] = led[change.After] || led[change.Before]
	}
	if led[r.Digest()] {
		return nil
	}
	return fmt.Errorf("checkpoint of step %d was trained under another config.json, %w: restore it; what may change is changed with ut train --resume %s --set", c.Step, errEdited, log.Dir())
}

var errEdited = errors.New("which has been edited since")

// changeable are the fields that may change when a run is resumed; fixed gives the reasons why others may not.
var (
	changeable = []string{
		"training.steps", "training.schedule", "training.log_every", "training.evaluate_every", "training.checkpoint_every", "training.keep", "training.stop",
	}
	fixed = []struct{ path, reason string }{
		{"task", "its weights have learned from the data it has"}, {"model", "its weights are of the model it has"},
		{"seed", "everything random has come from the one it has"}, {"name", "a run keeps its name"},
		{"training", "the updates so far were made with what it has"},
	}
)

// extended applies assignments to a run's configuration. Assigning a field that must not change is an error that gives the reason.
func extended(r experiment.Run, sets []string) (experiment.Run, error) {
	changed, err := r.Set(sets...)
	if err != nil {
		return r, err
	}
	for _, set := range sets {
		path, _, _ := strings.Cut(set, "=")
		below := func(place string) bool { return path == place || strings.HasPrefix(path, place+".") }
		if slices.ContainsFunc(changeable, below) {
			continue
		}
		for _, f := range fixed {
			if below(f.path) {
				return r, fmt.Errorf("%s cannot change in a run that is resumed: %s; start a new run, or change one of %s", path, f.reason, strings.Join(changeable, ", "))
			}
		}
	}
	return changed, nil
}

// extend changes the configuration of a run that continues from a step, records the change, and writes both.
func extend(log *runlog.Run, r experiment.Run, step int64, sets []string, c Callbacks) (experiment.Run, error) {
	changed, err := extended(r, sets)
	if err != nil || changed.Digest() == r.Digest() {
		return changed, err
	}
	if changed.Training.Steps < step {
		return r, fmt.Errorf("training.steps is %d, but step %d is done already: ask for more", changed.Training.Steps, step)
	}
	recorded, err := readChanges(log)
	if err != nil {
		return r, err
	}
	recorded.Changes = append(recorded.Changes, change{Step: step, Set: sets, Before: r.Digest(), After: changed.Digest()})
	if err := log.WriteJSON(changesFile, recorded); err != nil {
		return r, err
	}
	if err := log.WriteConfig(changed); err != nil {
		return r, err
	}
	c.log(fmt.Sprintf("config.json is changed from step %d on: %s", step, strings.Join(sets, ", ")))
	return changed, nil
}
