package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// This file determines what training starts or continues from, and whether it belongs to the run: the digests in checkpoints, and the
// checks of a checkpoint against configuration and vocabulary.

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
