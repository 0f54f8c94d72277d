package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/provenance"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/training"
)

// An assignment tells the other ranks what to train.
type assignment struct {
	Run        json.RawMessage `json:"run"`
	Vocabulary string          `json:"vocabulary"` // its digest
	Known      *vocabularies   `json:"known"`      // those of a resumed run
	Training   string          `json:"training"`   // digest of the training data, if they are read
	Backend    string          `json:"backend"`    // description of rank 0's backend
}

// vocabularies are vocabularies with the file of their tokenizer.
type vocabularies struct {
	task.Vocabularies
	File []byte `json:"file"` // of the tokenizer, if there is one
}

// sent returns vocabularies as they are sent; nil for nil.
func sent(v *task.Vocabularies) *vocabularies {
	switch {
	case v == nil:
		return nil
	case v.Subwords == nil:
		return &vocabularies{Vocabularies: *v}
	}
	return &vocabularies{*v, v.Subwords.File()}
}

// received returns the vocabularies that were sent.
func (v *vocabularies) received() (*task.Vocabularies, error) {
	if v == nil {
		return nil, nil
	}
	var err error
	if len(v.File) > 0 {
		v.Subwords, err = subword.ReadPieces(v.File)
	}
	return &v.Vocabularies, err
}

// checkRanks returns an error unless the ranks can share an update of a run.
func (c Callbacks) checkRanks(r experiment.Run) error {
	if c.Group == nil {
		return nil
	}
	return r.TrainingConfig().CheckRanks(c.Group.Size())
}

// assign sends the other ranks an assignment, and waits until all are ready.
func assign(group *parallel.Group, backend compute.Backend, r experiment.Run, known *task.Vocabularies, opened task.Task) error {
	message, err := json.Marshal(assignment{r.JSON(), vocabularyDigest(opened.Vocabularies()), sent(known), dataDigests(opened)[trainingPart], backend.Description()})
	if err != nil {
		return err
	}
	if _, err := group.Broadcast(message); err != nil {
		return err
	}
	return group.Agree(nil)
}

// Assist takes part in the runs that rank 0 trains with [Train] or [Resume], one after another, until rank 0 calls [Release]. It reads
// the task's files, but no run directory. Errors of training are reported by rank 0 and not returned here; an error that is returned
// means that this rank cannot continue.
func Assist(ctx context.Context, newBackend func() (compute.Backend, error), group *parallel.Group) error {
	var backend compute.Backend
	defer func() {
		if backend != nil {
			backend.Finalize()
		}
	}()
	for {
		message, err := group.Broadcast(nil)
		if err != nil || len(message) == 0 {
			return err
		}
		if backend == nil {
			backend, err = newBackend()
		}
		if err = assist(ctx, backend, group, message, err); err != nil {
			var known *parallel.RankError
			if !errors.As(err, &known) {
				return err
			}
		}
	}
}

// assist trains one run, unless there is no backend.
func assist(ctx context.Context, backend compute.Backend, group *parallel.Group, message []byte, err error) error {
	var trainer *training.Trainer
	if err == nil {
		trainer, err = accept(ctx, backend, message)
	}
	if err = group.Agree(err); err != nil {
		return err
	}
	meter := provenance.Start()
	defer meter.Stop()
	trainer.Group, trainer.CPU = group, cpuTime(meter)
	_, err = trainer.Run(ctx)
	return err
}

// accept returns the trainer of an assignment.
func accept(ctx context.Context, backend compute.Backend, message []byte) (*training.Trainer, error) {
	var a assignment
	if err := json.Unmarshal(message, &a); err != nil {
		return nil, err
	}
	r, err := experiment.Decode(a.Run)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if here := backend.Description(); here != a.Backend {
		return nil, fmt.Errorf("it computes with %s, rank 0 with %s: give all ranks the same backend and number of threads", here, a.Backend)
	}
	known, err := a.Known.received()
	if err != nil {
		return nil, err
	}
	opened, err := open(ctx, r, known, Callbacks{})
	if err != nil {
		return nil, err
	}
	if vocabularyDigest(opened.Vocabularies()) != a.Vocabulary {
		return nil, fmt.Errorf("%s: the files differ from those of rank 0: they give another vocabulary", r.Task.Value)
	}
	if dataDigests(opened)[trainingPart] != a.Training {
		return nil, fmt.Errorf("%s: the files differ from those of rank 0: they hold other training data", r.Task.Value)
	}
	return newTrainer(backend, r, opened)
}

// Release ends [Assist] on all other ranks.
func Release(group *parallel.Group) error {
	_, err := group.Broadcast(nil)
	return err
}
