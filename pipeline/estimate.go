package pipeline

import (
	"context"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// EstimateOptions determines what to estimate. The zero value estimates for this machine.
type EstimateOptions struct {
	Assumed
	Ranks    int                                // machines that share the batches of an update; 0 counts as 1
	Network  float64                            // bits per second that a rank sends
	FLOPS    float64                            // sustained operations per second of another machine; 0: none
	Measure  time.Duration                      // how long to measure on this machine; 0: do not measure
	Progress func(elapsed, whole time.Duration) // of the measurement; may be nil
	Log      func(string)                       // a line while data are read for long; may be nil
}

// Estimate is the cost of training a run, without validation.
type Estimate struct {
	Experiment string   `json:"experiment"`
	Model      string   `json:"model"`
	Adaptive   bool     `json:"adaptive"`          // operations assume that every position runs all steps
	Assumed    *Assumed `json:"assumed,omitempty"` // nil if the data were read
	Rows       int      `json:"rows"`              // of the typical batch: the median of the sampled batches by positions
	Source     int      `json:"source_positions"`
	Target     int      `json:"target_positions"`
	Batches    int      `json:"batches_per_update"`
	Updates    int64    `json:"updates"`
	Parameters int      `json:"parameters"`

	ModelBytes     int `json:"model_bytes"`     // parameters
	OptimizerBytes int `json:"optimizer_bytes"` // the moments of Adam and Muon, sums of gradients, means of weights
	WorkBytes      int `json:"work_bytes"`      // activations and gradients of the largest batch, as the backend cpu plans them

	Operations float64 `json:"operations_per_update"` // multiplications and additions of matrix products, forward and backward

	Ranks           int     `json:"ranks"`
	ExchangeSeconds float64 `json:"exchange_seconds"` // of an update, between ranks
	ExchangeBytes   int     `json:"exchange_bytes"`   // additional memory of each rank

	Measured *Speed `json:"measured,omitempty"` // on this machine
	Stated   *Speed `json:"stated,omitempty"`   // on a machine with the given operations per second
}

// Speed is the time training takes on one machine, or on several of the same kind.
type Speed struct {
	Machine             string  `json:"machine"`
	OperationsPerSecond float64 `json:"operations_per_second"` // of one machine
	UpdatesPerSecond    float64 `json:"updates_per_second"`
	Seconds             float64 `json:"seconds"`                    // of all updates
	MeasuredUpdates     int     `json:"measured_updates,omitempty"` // number of measured updates
	MeasuredRows        int     `json:"measured_rows,omitempty"`    // rows of each
	MeasuredSeconds     float64 `json:"measured_seconds,omitempty"`
}

// NewEstimate computes the cost of training a run, and measures the backend's speed. Nothing is written.
func NewEstimate(ctx context.Context, backend compute.Backend, r experiment.Run, o EstimateOptions) (Estimate, error) {
	if err := r.Validate(); err != nil {
		return Estimate{}, err
	}
	e := Estimate{
		Experiment: r.Name, Model: r.Model.Value.Describe(), Updates: r.Training.Steps, Batches: max(1, r.Training.Accumulate), Ranks: max(1, o.Ranks),
	}
	if err := o.validate(e.Batches); err != nil {
		return e, err
	}
	s, err := sample(ctx, r, o.Assumed, o.Log)
	if err != nil {
		return e, err
	}
	e.Assumed = s.assumed
	typical, largest := s.typical()
	e.Rows, e.Source, e.Target = typical.Rows, typical.SourcePositions(), typical.TargetLength
	m := r.Model.Value.Build(s.vocabularies, r.Seed)
	e.Adaptive = universal.Adaptive(m)
	cost, err := e.count(r, m, typical, largest)
	if err != nil {
		return e, err
	}
	e.exchange(o.Network)
	if o.FLOPS > 0 {
		e.Stated = e.at(o.FLOPS, "stated")
	}
	if o.Measure > 0 {
		e.Measured, err = e.measure(ctx, backend, r, m, cost, typical, o)
	}
	return e, err
}

func (o EstimateOptions) validate(batches int) error {
	switch {
	case o.Ranks < 0 || o.Ranks > maxRanks:
		return optionError("ranks", "is %d: it must be from 1 to %d", o.Ranks, maxRanks)
	case o.Ranks > 1 && batches%o.Ranks != 0:
		return optionError("ranks", "is %d, which does not divide training.accumulate, %d: ranks share the batches of an update", o.Ranks, batches)
	case o.FLOPS != 0 && !plausible(o.FLOPS):
		return speedError("flops", o.FLOPS)
	case o.Ranks > 1 && !plausible(o.Network):
		return speedError("network", o.Network)
	}
	return o.Assumed.validate()
}

const maxRanks = 1 << 20 // far more than an update has batches

// Bounds of speeds, far beyond those of any machine. Times computed from them are finite, so that JSON can represent them.
const (
	slowest = 1e-3
	fastest = 1e30
)

func plausible(speed float64) bool { return speed >= slowest && speed <= fastest }

func speedError(option string, speed float64) error {
	return optionError(option, "is %v: it must be positive and finite, from %v to %v", speed, slowest, fastest)
}

// count fills in parameters, memory and operations, and returns the cost of the typical batch.
func (e *Estimate) count(r experiment.Run, m universal.Model, typical, largest batch.Batch) (training.Cost, error) {
	counting, err := engine.New("") // cpu reports the cost of a graph
	if err != nil {
		return training.Cost{}, err
	}
	defer counting.Finalize()
	probe, err := training.NewProbe(r.TrainingConfig(), counting, m)
	if err != nil {
		return training.Cost{}, err
	}
	defer probe.Close()
	cost, err := probe.Cost(typical)
	if err != nil {
		return cost, err
	}
	maximum := cost
	if largest.Rows != typical.Rows || largest.SourceLength != typical.SourceLength || largest.TargetLength != typical.TargetLength {
		if maximum, err = probe.Cost(largest); err != nil {
			return cost, err
		}
	}
	e.Parameters, e.ModelBytes, e.OptimizerBytes, e.WorkBytes = cost.Parameters, cost.Model, cost.Optimizer, max(cost.Work, maximum.Work)
	e.Operations = cost.Operations * float64(e.Batches)
	return cost, nil
}

// exchange computes the communication time of an update: in every round each rank sends a part of the gradients to each owner, and at the
// end the totals to all, without overlapping computation.
func (e *Estimate) exchange(bits float64) {
	if e.Ranks > 1 {
		n, rounds := float64(e.Ranks), float64(e.Batches/e.Ranks)
		e.ExchangeSeconds = (rounds + 1) * (n - 1) / n * float64(e.ModelBytes) * 8 / bits
		e.ExchangeBytes = 2*e.ModelBytes + e.ModelBytes/e.Ranks // gradients of a batch, what ranks exchange, and the part that a rank adds
	}
}

// at returns the speed of machines that perform that many operations per second.
func (e *Estimate) at(operations float64, machine string) *Speed {
	seconds := e.Operations/operations/float64(e.Ranks) + e.ExchangeSeconds
	return &Speed{Machine: machine, OperationsPerSecond: operations, UpdatesPerSecond: 1 / seconds, Seconds: seconds * float64(e.Updates)}
}

// maxMeasuredRate limits the operations of a measured update, per second of measuring time. Of larger batches only some rows are used;
// the optimizer then takes a larger fraction of the time than in training.
const maxMeasuredRate = 4e10

// measure times updates for the given time.
func (e *Estimate) measure(ctx context.Context, backend compute.Backend, r experiment.Run, m universal.Model, cost training.Cost, b batch.Batch, o EstimateOptions) (*Speed, error) {
	probe, err := training.NewProbe(r.TrainingConfig(), backend, m)
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	perRow := cost.Operations / float64(b.Rows)
	rows := min(b.Rows, max(1, int(maxMeasuredRate*o.Measure.Seconds()/perRow)))
	b.Rows, b.Examples, b.Source, b.Target = rows, rows, b.Source[:rows*b.SourceLength], b.Target[:rows*b.TargetLength]
	if err := probe.Update(b); err != nil { // compiles the graphs
		return nil, err
	}
	start, done := time.Now(), 0
	for done < 2 || time.Since(start) < o.Measure {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := probe.Update(b); err != nil {
			return nil, err
		}
		if done++; o.Progress != nil {
			o.Progress(time.Since(start), o.Measure)
		}
	}
	elapsed := time.Since(start).Seconds()
	speed := e.at(perRow*float64(rows*done)/elapsed, backend.Description())
	speed.MeasuredUpdates, speed.MeasuredRows, speed.MeasuredSeconds = done, rows, elapsed
	return speed, nil
}
