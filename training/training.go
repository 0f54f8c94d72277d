// Package training trains a model: batches, updates, validation and checkpoints, in a run that can be interrupted at any moment and
// resumed exactly.
//
// Everything random is drawn from streams derived from the run's seed: initial weights by parameter, examples and their order by index,
// positions and dropout by batch. Two runs with the same seed give the same bits, and so does one that was interrupted, provided they use
// the same build of this program, the same backend, the same kernels and the same number of threads, because sums of floats depend on
// their order. Checkpoints record kernels and number of threads, and Run notes changes.
//
// The batches of an update may be divided among several ranks ([Trainer].Group), batch i to rank i mod N. Gradients are added in the
// order of batches, so that N ranks compute the same bits as one, if the backend repeats its bits ([engine.Repeats]); the
// configuration does not have their number, and a run may continue with another one.
package training

import (
	"context"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/score"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Trainer trains a run. Set the fields and call Run.
type Trainer struct {
	Config     schedule.Config
	Backend    compute.Backend
	Model      universal.Model
	Positions  universal.Draws // positions of tokens in training
	Stream     *batch.Stream
	Validation []batch.Batch
	Log        *runlog.Run
	From       *runlog.Checkpoint // to continue from, nil for a new run; only rank 0 needs it. Run sets it to nil
	// Begin is called on rank 0 after all checks have passed, before the run directory changes. May be nil.
	Begin func() error
	// Decoded evaluates decoded answers at every validation, with the variables of store. The metrics are logged as "decoded_" and their
	// names; BestByMeasure uses the first, for which higher is better. It returns an error if ctx ends before. May be nil.
	Decoded func(ctx context.Context, store *model.Store) ([]score.Metric, error)
	// Pictures draws pictures of the model for TensorBoard with the variables of store, after every validation; none if they are not due. It
	// must not change anything else. May be nil.
	Pictures   func(store *model.Store, step int64) ([]tensorboard.Image, error)
	OnProgress func(Progress) // called after every update; may be nil
	Notify     func(string)   // receives messages of one line; may be nil
	CPU        func() float64 // CPU time of this rank so far, in seconds; may be nil

	Seals Seals // identify the run of the checkpoints

	// Group is the ranks that train together, nil for this process alone. Their trainers are equal except for Log, Validation, Decoded,
	// Pictures, OnProgress and Notify, which only rank 0 needs.
	Group *parallel.Group

	Store *model.Store // variables, filled by Run

	hasSource   bool             // the batches have sources
	graphs      *capacity.Graphs // those of all runners
	gradients   *capacity.Runner // of one batch; the whole update if apply is nil
	apply       *capacity.Runner // the rest of an update
	evaluate    *capacity.Runner
	group       *parallel.Group // Group, or this process alone
	step        int64
	saved       int64         // step of the newest checkpoint, on rank 0; -1: none
	drawn       []batch.Batch // of the update at hand
	interrupted bool          // a rank's context has ended
	compared    bool          // ranks have compared their gradients
	othersCPU   float64       // CPU time of the other ranks so far, in seconds
	plansFree   bool          // plans ignore the cost of compiling; for tests
	started     time.Time     // when this process began to train
	state       state

	window       speed // since the last events
	eventsFailed bool  // events cannot be written

	gradientBuffer, gradientTotal []float32 // buffers of foldSums: all gradients of one batch, and this rank's part of the total
}

// Seals identify the configuration, vocabulary, data and machine that a checkpoint belongs to. They are stored in its metadata, so that
// readers can detect a mismatch.
type Seals struct {
	Fingerprint   string // digest of the part of the configuration that the weights depend on
	Vocabulary    string // digest of the vocabularies
	Configuration string // digest of the whole configuration; after a change, an earlier stop no longer applies
	Engine        string // backend and number of threads

	Data map[string]string // digests of the data as read, by part: "training", "validation", "test"; nil for tasks that read nothing

	LongestSource int // tokens of the longest training source, beyond which answers are uncertain; it identifies nothing
	LongestTarget int // tokens of the longest training target, which bounds the length of answers; it identifies nothing
}

// Metadata keys of the seals.
const (
	FingerprintKey   = "fingerprint"
	VocabularyKey    = "vocabulary"
	ConfigurationKey = "configuration"
	EngineKey        = "engine"

	LongestSourceKey = "longest_source"
	LongestTargetKey = "longest_target"
)

// DataKey returns the metadata key of the digest of a part of the data.
func DataKey(part string) string { return "data_" + part }

// Progress is the state of training, for display.
type Progress struct {
	Step, Steps     int64
	Tally           objective.Tally // of this update
	Adaptive        bool            // the model has adaptive depth, so that Tally has ponder times
	Rate            float64         // learning rate
	TokensPerSecond float64         // target tokens of this update per second
	Graphs          int             // compiled graphs in memory
	Compiled        int             // graphs compiled so far, including freed ones
	Compiling       float64         // share of the time since this process began to train
	Calls           int             // calls of graphs so far
	Ranks           int             // processes that train together
	OthersCPU       float64         // CPU time of the other ranks so far, in seconds, as far as they measure it
}

// Summary is the outcome of a run.
type Summary struct {
	Step       int64
	Stopped    string // why it ended: "done", "accuracy", "perfect", "patience", "interrupted"
	Seconds    float64
	Validation objective.Tally // the last one
	BestStep   int64
	BestNats   float64 // validation cross entropy of the best checkpoint, nats per token
	Parameters int     // trained numbers
	Selection  string  // how the best checkpoint was selected, and whether correct sequences and cross entropy disagree; one line
}
