package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// This file determines what training starts or continues from, and whether it belongs to the run: the digests in checkpoints, the checks of a
// checkpoint against configuration and vocabulary, and the changes of the configuration that are allowed on resume.

// seals returns the identity of a run's configuration, vocabulary, data and machine, for its checkpoints.
func seals(backend compute.Backend, r experiment.Run, opened task.Task) training.Seals {
	source, target := opened.MaxLengths()
	return training.Seals{
		LongestSource: source, LongestTarget: target,
		Fingerprint: r.Fingerprint(), Vocabulary: vocabularyDigest(opened.Vocabularies()), Configuration: r.Digest(),
		Engine: fmt.Sprintf("%s (GOMAXPROCS %d)", backend.Description(), runtime.GOMAXPROCS(0)),
		Data:   dataDigests(opened),
	}
}

// vocabularyDigest returns a digest of the meaning of all ids.
func vocabularyDigest(v task.Vocabularies) string {
	v.TokensPerPosition = v.Positions()
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pipeline: %v", err)) // lists of texts marshal
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// knownVocabularies returns the vocabularies of a run directory, nil if the run was killed before it wrote them.
func knownVocabularies(log *runlog.Run) (*task.Vocabularies, error) {
	v, err := readVocabularies(log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &v, err
}

// checkVocabulary returns an error if the task has another vocabulary than the one in the run directory. A run without one writes it now.
func (t *openRun) checkVocabulary() error {
	if t.known == nil {
		return writeVocabularies(t.log, t.data.Vocabularies())
	}
	if !t.known.Equal(t.data.Vocabularies()) {
		return fmt.Errorf("%s: %w, or vocabulary.json has been changed: restore the files, or start a new run", t.log.Dir(), errVocabulary)
	}
	return nil
}

var errVocabulary = errors.New("the task's data give another vocabulary than the one this run was trained with")

// checkCheckpoint returns an error if a checkpoint's parameters are not exactly those of a run's model, or if it was trained under
// another task, model or seed, or with another vocabulary. The note says which seals are missing, as in checkpoints of earlier versions.
func checkCheckpoint(backend compute.Backend, r experiment.Run, v task.Vocabularies, c *runlog.Checkpoint) (note string, err error) {
	sealed := c.Meta[training.VocabularyKey]
	sameVocabulary := sealed == "" || sealed == vocabularyDigest(v)
	if sameVocabulary { // the shapes of the parameters depend on it
		if err := checkParameters(backend, r, v, c, "config.json describes"); err != nil {
			return "", withOwnTypes(err, r)
		}
	}
	if err := checkFingerprint(r, c); err != nil {
		return "", err
	}
	if !sameVocabulary {
		return "", runlog.AsDamaged(fmt.Errorf("checkpoint of update %d was trained with another vocabulary: vocabulary.json has been changed since, or the task's data: restore them", c.Step))
	}
	if sealed == "" {
		return fmt.Sprintf("checkpoint of update %d: an earlier version wrote it, and it does not say with which vocabulary it was trained", c.Step), nil
	}
	return "", nil
}

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

// changeable are the fields that may change when a run is resumed; fixed gives the reasons why others may not.
var (
	changeable = []string{
		"training.steps", "training.schedule", "training.log_every", "training.evaluate_every", "training.checkpoint_every", "training.keep", "training.events", "training.stop",
	}
	fixed = []struct{ path, reason string }{
		{"task", "the weights have learned from its data"}, {"model", "the weights are those of this model"},
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
	return nil
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

// findCheckpoint reads the newest intact checkpoint of a run and checks that it belongs to it. A run that was killed before its first
// checkpoint begins again.
func (t *openRun) findCheckpoint() error {
	c, refused, err := t.log.Latest()
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		if err := lost(t.log, err); err != nil {
			return err
		}
		t.callbacks.log("there is no checkpoint: training starts from the beginning")
		if err := t.initialize(); err != nil {
			return err
		}
		return t.saveInitial()
	}
	if err != nil {
		return err
	}
	if c.Step > 0 { // at update 0 nothing is trained yet
		note, err := checkCheckpoint(t.backend, t.run, t.data.Vocabularies(), c)
		if err != nil {
			return fmt.Errorf("%s: %w", t.log.Dir(), err)
		}
		if note != "" {
			t.callbacks.log(note)
		}
		if err := t.checkData(c); err != nil {
			return err
		}
	}
	if err := checkConfiguration(t.log, t.run, c); err != nil {
		return err
	}
	for _, r := range refused {
		t.callbacks.log(r.String() + ": it is set aside")
	}
	t.from = c
	return nil
}

// A LostError means that a run had checkpoints, but none can be used. Training again in its directory would overwrite what is left.
type LostError struct {
	Dir string // of the run
	Err error  // the reason why no checkpoint can be used
}

func (e *LostError) Error() string {
	if missing := (*runlog.MissingError)(nil); errors.As(e.Err, &missing) {
		return fmt.Sprintf("%v, or train again in another directory; nothing is changed", e.Err)
	}
	return fmt.Sprintf("%v; nothing is changed: restore a checkpoint, or train again in another directory", e.Err)
}

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Err }

// lost returns a [LostError] with a reason if a run without a usable checkpoint has had one.
func lost(log *runlog.Run, reason error) error {
	if missing := (*runlog.MissingError)(nil); !errors.Is(reason, runlog.ErrDamaged) && !errors.As(reason, &missing) {
		return nil
	}
	return &LostError{log.Dir(), reason}
}
