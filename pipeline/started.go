package pipeline

import (
	"errors"
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// Started describes a run directory whose training has begun.
type Started struct {
	Run  experiment.Run
	Data map[string]string // digests of the data of the newest checkpoint, by part; nil without one, if it does not say, or while a process writes the run
}

// ReadStarted reads a run directory that [Resume] is to continue, without its data, and changes nothing. It returns the errors that Resume
// would return for the files of the run, among them [runlog.ErrNotRun].
func ReadStarted(dir string, x experiment.Extensions) (s Started, err error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return s, err
	}
	if s.Run, err = readRun(log, x); err != nil {
		return s, err
	}
	if log.InUse() { // its checkpoints change
		return s, nil
	}
	if _, err := knownVocabularies(log); err != nil {
		return s, err
	}
	c, _, err := log.Latest()
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		return s, lost(log, err)
	}
	if err != nil {
		return s, err
	}
	if c.Step == 0 { // nothing is trained yet
		return s, checkConfiguration(log, s.Run, c)
	}
	if err := checkFingerprint(s.Run, c); err != nil {
		return s, fmt.Errorf("%s: %w", log.Dir(), err)
	}
	s.Data = sealedDigests(c)
	return s, checkConfiguration(log, s.Run, c)
}

// checkFingerprint returns an error if a checkpoint was trained under another task, model, source_end or seed than the run's.
func checkFingerprint(r experiment.Run, c *runlog.Checkpoint) error {
	if c.Meta[training.FingerprintKey] == r.Fingerprint() {
		return nil
	}
	return runlog.AsDamaged(fmt.Errorf("checkpoint of update %d was trained under another config.json: its task, model, source_end or seed has been changed since", c.Step))
}
