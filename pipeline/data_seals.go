package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// trainingPart names the training part of the data.
const trainingPart = "training"

// dataParts are the parts of data that have digests, in the order of messages.
var dataParts = []string{trainingPart, "validation", "test"}

// dataDigests returns the digests of a task's data by part, nil if the configuration defines them.
func dataDigests(opened task.Task) map[string]string {
	reads, ok := opened.(task.Digester)
	if !ok {
		return nil
	}
	d := reads.Digests()
	digests := map[string]string{}
	for i, digest := range []string{d.Training, d.Validation, d.Test} {
		if digest != "" {
			digests[dataParts[i]] = digest
		}
	}
	return digests
}

// changedData describes which parts of the data, given by their digests, differ from those that a checkpoint was trained with; "" if none
// does, or if an earlier version wrote the checkpoint without digests.
func changedData(c *runlog.Checkpoint, now map[string]string) string {
	if len(now) == 0 || len(sealedDigests(c)) == 0 {
		return ""
	}
	var changed []string
	for _, part := range dataParts {
		if now[part] != c.Meta[training.DataKey(part)] {
			changed = append(changed, part)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return fmt.Sprintf("the %s data have changed since the checkpoint of update %d", strings.Join(changed, ", "), c.Step)
}

// sealedDigests returns the digests of data in a checkpoint by part, nil if it has none.
func sealedDigests(c *runlog.Checkpoint) (digests map[string]string) {
	for _, part := range dataParts {
		if digest := c.Meta[training.DataKey(part)]; digest != "" {
			if digests == nil {
				digests = map[string]string{}
			}
			digests[part] = digest
		}
	}
	return digests
}

// DataDigests returns the digests of the data that the model was trained with, by part: "training", "validation", "test". It is nil for
// tasks whose data the configuration defines, and for checkpoints of versions that did not record digests.
func (m *Model) DataDigests() map[string]string { return sealedDigests(m.checkpoint) }

// A DataError means that a run's data have changed since its checkpoint was written.
type DataError struct {
	Dir     string // of the run
	Changed string // "the training, test data have changed since the checkpoint of update 10"
	Drawn   bool   // by a function of the program, and not read from files
}

func (e *DataError) Error() string {
	remedy := "restore the files"
	if e.Drawn {
		remedy = "resume it with the function that drew them"
	}
	return fmt.Sprintf("%s: %s: %s, or accept the changed data", e.Dir, e.Changed, remedy)
}

// checkData returns a [DataError] if the data are not those of the checkpoint. If they are accepted, it only reports the change. Data that
// cannot be trained with, because they have classes that the run does not know, are an error in any case.
func (t *openRun) checkData(c *runlog.Checkpoint) error {
	now := dataDigests(t.data)
	if len(now) > 0 {
		if _, err := task.Drawn(func() task.Example { return t.data.Training(t.run.Seed, 0) }); err != nil {
			return fmt.Errorf("%s: %w", t.log.Dir(), err)
		}
	}
	if len(now) > 0 && len(sealedDigests(c)) == 0 {
		t.callbacks.log(fmt.Sprintf("checkpoint of update %d: an earlier version wrote it, and it does not say with which data it was trained", c.Step))
		return nil
	}
	changed := changedData(c, now)
	switch {
	case changed == "":
		return nil
	case !t.callbacks.AcceptData:
		read := slices.ContainsFunc(t.run.Files(), func(f experiment.File) bool { return !f.IsRun() })
		return &DataError{t.log.Dir(), changed, !read}
	}
	t.callbacks.log(changed + ", and are accepted")
	t.accepted = changed
	return nil
}
