package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// runOf02 is a run as version 0.2 wrote it, without the field weigh_by_tokens, which its runs had as false. Digests are those of this form,
// so that those of its runs remain valid. Training is in place of that of Run, and Seed keeps its place behind it.
type runOf02 struct {
	Run
	Training trainingOf02 `json:"training"`
	Seed     uint64       `json:"seed"`
}

// trainingOf02 is Training without the field, which is false.
type trainingOf02 struct {
	Training
	WeighByTokens bool `json:"weigh_by_tokens,omitempty"`
}

// digest returns a digest of a run without paths.
func digest(r Run) string {
	r = r.Identity()
	text := r.JSON()
	if !r.Training.WeighByTokens {
		text = indented(runOf02{Run: r, Training: trainingOf02{Training: r.Training}, Seed: r.Seed})
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Fingerprint returns a digest of the parts of the configuration that a resumed run must not change because its weights depend on them:
// task, source_end, model and seed. It does not depend on where the task's files are.
func (r Run) Fingerprint() string {
	return digest(Run{Task: r.Task, SourceEnd: r.SourceEnd, Model: r.Model, Seed: r.Seed})
}

// Digest returns a digest of the whole configuration, including training. It does not depend on where files are.
func (r Run) Digest() string { return digest(r) }

// Identity returns the run without paths. Base names remain where they distinguish runs (the tag file:"name").
func (r Run) Identity() Run {
	r.Training.Pretrained = base(r.Training.Pretrained)
	r.Task.Value = renamed(r.Task.Value, func(f file) string {
		if f.tag == "any" {
			return ""
		}
		return base(f.path)
	})
	return r
}

// WithoutDirectories returns the run with base names in place of paths, for publication.
func (r Run) WithoutDirectories() Run {
	r.Training.Pretrained = base(r.Training.Pretrained)
	r.Task.Value = renamed(r.Task.Value, func(f file) string { return base(f.path) })
	return r
}

// base returns the last element of a path of this system or of another one: it ends a name at / and at \ everywhere, so that a run that
// was trained under Windows has the same digest elsewhere. It returns "" for an empty path, and a root as it is.
func base(path string) string {
	trimmed := strings.TrimRight(path, `/\`)
	if trimmed == "" {
		return path
	}
	return trimmed[strings.LastIndexAny(trimmed, `/\`)+1:]
}
