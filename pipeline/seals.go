package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// seals returns the identity of a run's configuration, vocabulary and machine, for its checkpoints.
func seals(backend compute.Backend, r experiment.Run, v task.Vocabularies) training.Seals {
	return training.Seals{
		Fingerprint: r.Fingerprint(), Vocabulary: vocabularyDigest(v), Configuration: r.Digest(),
		Engine: fmt.Sprintf("%s (GOMAXPROCS %d)", backend.Description(), runtime.GOMAXPROCS(0)),
	}
}

// vocabularyDigest is a digest of the meaning of all ids.
func vocabularyDigest(v task.Vocabularies) string {
	v.TokensPerPosition = v.Positions()
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("pipeline: %v", err)) // lists of texts marshal
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sealed returns an error if a checkpoint was trained under another task, model or seed, or with another vocabulary.
func sealed(r experiment.Run, v task.Vocabularies, c *runlog.Checkpoint) error {
	if c.Meta[training.FingerprintKey] != r.Fingerprint() {
		return fmt.Errorf("checkpoint of step %d was trained under another config.json: its task, model or seed has been changed since", c.Step)
	}
	if was := c.Meta[training.VocabularyKey]; was != "" && was != vocabularyDigest(v) {
		return fmt.Errorf("checkpoint of step %d was trained with another vocabulary: vocabulary.json has been changed since, or the task's data: restore them", c.Step)
	}
	return nil
}

// unsealed returns a note about seals that are missing in a checkpoint, or an empty string.
func unsealed(c *runlog.Checkpoint) string {
	if c.Meta[training.VocabularyKey] != "" {
		return ""
	}
	return fmt.Sprintf("checkpoint of step %d: an earlier version wrote it, and it does not say with which vocabulary it was trained", c.Step)
}
