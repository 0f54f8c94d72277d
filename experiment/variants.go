package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/internal/strictjson"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/babi"
	"universal-transformer/task/table"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Task is one of the tasks.
type Task struct {
	Copy     *algorithmic.Copy     `json:"copy,omitempty"`
	Reverse  *algorithmic.Reverse  `json:"reverse,omitempty"`
	Addition *algorithmic.Addition `json:"addition,omitempty"`
	Table    *table.Table          `json:"table,omitempty"`
	Babi     *babi.Babi            `json:"babi,omitempty"`
}

// Transition is one of the transition functions.
type Transition struct {
	FeedForward          *universal.FeedForward          `json:"feedforward,omitempty"`
	SeparableConvolution *universal.SeparableConvolution `json:"separable_convolution,omitempty"`
}

// Halting is one of the halting policies.
type Halting struct {
	Fixed   *halting.Fixed  `json:"fixed,omitempty"`
	Length  *halting.Length `json:"length,omitempty"`
	Listing *halting.ACT    `json:"listing,omitempty"`
	Graves  *halting.ACT    `json:"graves,omitempty"`
	Frozen  *halting.ACT    `json:"frozen,omitempty"`
}

// Schedule is one of the learning-rate schedules of package training.
type Schedule struct {
	Constant          *Constant          `json:"constant,omitempty"`
	InverseSquareRoot *InverseSquareRoot `json:"inverse_square_root,omitempty"`
	Cosine            *Cosine            `json:"cosine,omitempty"`
}

// Constant is training.Constant.
type Constant struct {
	Rate float64 `json:"rate"`
}

// InverseSquareRoot is training.InverseSquareRoot; the authors use 2 and 8000.
type InverseSquareRoot struct {
	Factor float64 `json:"factor"`
	Warmup int64   `json:"warmup"`
}

// Cosine is training.Cosine over all updates.
type Cosine struct {
	Peak   float64 `json:"peak"`
	Floor  float64 `json:"floor"`
	Warmup int64   `json:"warmup"`
}

// Classifier makes the model an encoder that answers with one class.
type Classifier struct {
	Pool   string `json:"pool"`   // what is read out: "last", the state of the last position, or "mean", of all real ones
	Untied bool   `json:"untied"` // every layer has weights of its own: the Transformer that the paper compares with
}

func (c Classifier) model(config universal.Config) (universal.Model, error) {
	pools := map[string]universal.Pool{"last": universal.Last, "mean": universal.Mean}
	pool, ok := pools[c.Pool]
	if !ok {
		return nil, unknown("model.classifier.pool", c.Pool, slices.Sorted(maps.Keys(pools)))
	}
	if c.Untied {
		config.UntiedLayers = true
	}
	return universal.Encoder{Config: config, Pool: pool}, nil
}

// UnmarshalJSON forgets the default before it reads, so that naming another variant replaces it.
func (t *Task) UnmarshalJSON(data []byte) error {
	type plain Task
	var fresh plain
	err := strictjson.Decode(data, &fresh)
	if err == nil {
		*t = Task(fresh)
	}
	return err
}

// UnmarshalJSON forgets the default before it reads, so that naming another variant replaces it.
func (t *Transition) UnmarshalJSON(data []byte) error {
	type plain Transition
	var fresh plain
	err := strictjson.Decode(data, &fresh)
	if err == nil {
		*t = Transition(fresh)
	}
	return err
}

// UnmarshalJSON forgets the default before it reads, so that naming another variant replaces it.
func (h *Halting) UnmarshalJSON(data []byte) error {
	type plain Halting
	var fresh plain
	err := strictjson.Decode(data, &fresh)
	if err == nil {
		*h = Halting(fresh)
	}
	return err
}

// UnmarshalJSON forgets the default before it reads, so that naming another variant replaces it.
func (s *Schedule) UnmarshalJSON(data []byte) error {
	type plain Schedule
	var fresh plain
	err := strictjson.Decode(data, &fresh)
	if err == nil {
		*s = Schedule(fresh)
	}
	return err
}

// chosen gives the one variant that is set, of those named in order.
func chosen[T any](field string, names []string, variants ...*T) (value T, err error) {
	var set []string
	for i, v := range variants {
		if v != nil {
			value, set = *v, append(set, names[i])
		}
	}
	switch len(set) {
	case 0:
		return value, fmt.Errorf("%s is missing: name one of %s", field, list(names))
	case 1:
		return value, nil
	}
	return value, fmt.Errorf("%s names %s: choose one", field, strings.Join(set, " and "))
}

func list(names []string) string { return strings.Join(names, ", ") }

// as makes a pointer to an interface value of a pointer to a variant, nil of nil.
func as[T any, V any](v *V, wrap func(V) T) *T {
	if v == nil {
		return nil
	}
	t := wrap(*v)
	return &t
}

func (t Transition) value() (universal.Transition, error) {
	return chosen("model.transition", []string{"feedforward", "separable_convolution"},
		as(t.FeedForward, func(v universal.FeedForward) universal.Transition { return v }),
		as(t.SeparableConvolution, func(v universal.SeparableConvolution) universal.Transition { return v }))
}

func (h Halting) value() (halting.Policy, error) {
	return chosen("model.halting", []string{"fixed", "length", "listing", "graves", "frozen"},
		as(h.Fixed, func(v halting.Fixed) halting.Policy { return v }),
		as(h.Length, func(v halting.Length) halting.Policy { return v }),
		as(h.Listing, func(v halting.ACT) halting.Policy { return halting.Listing{ACT: v} }),
		as(h.Graves, func(v halting.ACT) halting.Policy { return halting.Graves{ACT: v} }),
		as(h.Frozen, func(v halting.ACT) halting.Policy { return halting.Frozen{ACT: v} }))
}

func (s Schedule) value(width int, steps int64) (training.Schedule, error) {
	names := []string{"constant", "inverse_square_root", "cosine"}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return chosen("training.schedule", names,
		as(s.Constant, func(v Constant) training.Schedule { return training.Constant(v.Rate) }),
		as(s.InverseSquareRoot, func(v InverseSquareRoot) training.Schedule {
			return training.InverseSquareRoot(v.Factor, v.Warmup, width)
		}),
		as(s.Cosine, func(v Cosine) training.Schedule { return training.Cosine(v.Peak, v.Floor, v.Warmup, steps) }))
}

func (s Schedule) validate() error {
	if v := s.Constant; v != nil && !(v.Rate > 0) {
		return fmt.Errorf("training.schedule.constant.rate is %v: it must be positive", v.Rate)
	}
	if v := s.InverseSquareRoot; v != nil && (!(v.Factor > 0) || v.Warmup < 1) {
		return fmt.Errorf("training.schedule.inverse_square_root has factor %v and warmup %d: both must be positive", v.Factor, v.Warmup)
	}
	if v := s.Cosine; v != nil && (!(v.Peak > 0) || !(v.Floor >= 0 && v.Floor <= v.Peak) || v.Warmup < 0) {
		return fmt.Errorf("training.schedule.cosine has peak %v, floor %v and warmup %d: the peak must be positive, the floor between 0 and the peak, the warm-up not negative", v.Peak, v.Floor, v.Warmup)
	}
	return nil
}

// online is the algorithmic task that is set, nil for one that is read from files.
func (t Task) online() (task.Task, error) {
	return chosen("task", []string{"copy", "reverse", "addition", "table", "babi"},
		as(t.Copy, func(v algorithmic.Copy) task.Task { return v }),
		as(t.Reverse, func(v algorithmic.Reverse) task.Task { return v }),
		as(t.Addition, func(v algorithmic.Addition) task.Task { return v }),
		as(t.Table, func(table.Table) task.Task { return nil }),
		as(t.Babi, func(babi.Babi) task.Task { return nil }))
}

// isFile tells that the task is read from files, and has the lengths that they have.
func (t Task) isFile() bool { return t.Table != nil || t.Babi != nil }

func (t Task) maxLengths() (source, target int) {
	online, _ := t.online()
	return online.MaxLengths()
}

// Validate checks the task that is set.
func (t Task) Validate() error {
	online, err := t.online()
	if err != nil {
		return err
	}
	switch {
	case t.Table != nil:
		err = t.Table.Validate()
	case t.Babi != nil:
		err = t.Babi.Validate()
	default:
		err = online.(interface{ Validate() error }).Validate()
	}
	if err != nil {
		return fmt.Errorf("task.%w", err)
	}
	return nil
}

// Open makes the task. For a table it reads the files and reports what is in them; the report is nil for other tasks.
func (t Task) Open() (task.Task, *table.Report, error) {
	if t.Table != nil {
		opened, report, err := table.Open(*t.Table)
		if err != nil {
			return nil, report, err
		}
		return opened, report, nil
	}
	if t.Babi != nil {
		opened, err := babi.OpenTask(*t.Babi)
		if err != nil {
			return nil, nil, err
		}
		return opened, nil, nil
	}
	online, err := t.online()
	return online, nil, err
}

// name is what traces call the task.
func (t Task) name() string {
	switch {
	case t.Table != nil:
		return t.Table.Path
	case t.Babi != nil:
		return t.Babi.String()
	}
	online, err := t.online()
	if err != nil {
		return ""
	}
	return online.Name()
}
