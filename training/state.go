package training

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/universal"
)

// state is the part of a checkpoint besides variables. With it a resumed run continues exactly.
type state struct {
	Data           batch.Position  `json:"data"`      // position of the next batch
	Window         objective.Tally `json:"window"`    // updates since the last line of metrics
	Seconds        float64         `json:"seconds"`   // training time so far
	BestStep       int64           `json:"best_step"` // of the best validation so far; 0: none yet
	BestNats       float64         `json:"best_nats"`
	BestSmoothed   float64         `json:"best_smoothed"`
	BestCorrect    float64         `json:"best_correct,omitempty"`    // correct sequences of the best validation
	BestMeasure    float64         `json:"best_measure,omitempty"`    // the task's measure at the best validation
	Waited         int             `json:"waited"`                    // validations since the best
	Perfect        int             `json:"perfect,omitempty"`         // consecutive validations with all sequences correct
	MaxCorrect     extreme         `json:"most_correct,omitzero"`     // the most correct sequences of a validation
	LowestSmoothed extreme         `json:"lowest_nats,omitzero"`      // the lowest smoothed cross entropy of a validation
	Validation     objective.Tally `json:"validation"`                // the last one
	Stopped        string          `json:"stopped"`                   // the reason why training ended before its last update, or ""
	PonderProblems int             `json:"ponder_problems,omitempty"` // consecutive validations with a problem of ponder times
	ValidationDue  bool            `json:"validation_due,omitempty"`  // the validation after this step is not made yet

	Metrics int64 `json:"metrics,omitempty"` // bytes of metrics written so far

	CapacityPlan *capacity.Planner `json:"capacity_plan,omitempty"` // plan of how many positions will run
}

// extreme is the best value of a quantity in any validation, with the first step that had it.
type extreme struct {
	Step  int64   `json:"step"`
	Value float64 `json:"value"`
}

// StateKey is the metadata key of the state.
const StateKey = "training"

// checkpoint gathers all variables that persist between updates, including the optimizer's.
func (t *Trainer) checkpoint() (*runlog.Checkpoint, error) {
	t.state.Metrics = t.Log.MetricsSize()
	kept, err := json.Marshal(t.state)
	if err != nil {
		return nil, err
	}
	c := &runlog.Checkpoint{Step: t.step, Meta: t.Seals.metadata(string(kept))}
	for v := range t.Store.IterVariables() {
		if v.Name() == model.RNGStateVariableName || strings.HasPrefix(v.Path(), accumulated) {
			continue
		}
		tensor, err := export(v)
		if err != nil {
			return nil, err
		}
		if Trained(v.Path()) && !Finite(tensor) {
			return nil, fmt.Errorf("update %d: parameter %s contains NaN or infinity and is not saved; earlier checkpoints are kept; try a lower learning rate", t.step, tensor.Name)
		}
		c.Tensors = append(c.Tensors, tensor)
	}
	return c, nil
}

// Exported returns the trained variables of a store under their public names.
func Exported(store *model.Store) (list []safetensors.Tensor, err error) {
	for v := range store.IterVariables() {
		if !Trained(v.Path()) {
			continue
		}
		t, err := export(v)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// Begin returns the checkpoint of update 0 of a run that starts from the given parameters instead of random ones.
func Begin(parameters []safetensors.Tensor, s Seals) (*runlog.Checkpoint, error) {
	kept, err := json.Marshal(state{})
	if err != nil {
		return nil, err
	}
	return &runlog.Checkpoint{Tensors: parameters, Meta: s.metadata(string(kept))}, nil
}

// metadata returns the metadata of a checkpoint with these seals and this state.
func (s Seals) metadata(state string) map[string]string {
	meta := map[string]string{
		StateKey: state, FingerprintKey: s.Fingerprint, VocabularyKey: s.Vocabulary, ConfigurationKey: s.Configuration, EngineKey: s.Engine,
	}
	if s.LongestSource > 0 {
		meta[LongestSourceKey] = strconv.Itoa(s.LongestSource)
	}
	if s.LongestTarget > 0 {
		meta[LongestTargetKey] = strconv.Itoa(s.LongestTarget)
	}
	for part, digest := range s.Data {
		meta[DataKey(part)] = digest
	}
	return meta
}

// Finite reports whether all numbers of a float32 tensor are finite.
func Finite(t safetensors.Tensor) bool {
	if t.DType != "F32" {
		return true
	}
	for i := 0; i < len(t.Data); i += 4 {
		const exponent = 0x7f800000
		if binary.LittleEndian.Uint32(t.Data[i:])&exponent == exponent {
			return false
		}
	}
	return true
}

// ErrWeightsOnly is the error of a checkpoint without a state of training, as in an exported run.
var ErrWeightsOnly = errors.New("holds the weights only")

// restore loads a checkpoint's variables and state.
func (t *Trainer) restore(c *runlog.Checkpoint) error {
	if _, ok := c.Meta[StateKey]; !ok {
		return fmt.Errorf("checkpoint of update %d %w: start a new run from them with training.pretrained", c.Step, ErrWeightsOnly)
	}
	kept := []byte(c.Meta[StateKey])
	if bytes.Equal(kept, []byte("null")) { // which would leave the state of a run that begins
		return fmt.Errorf("checkpoint of update %d: its metadata %q is null", c.Step, StateKey)
	}
	if err := json.Unmarshal(kept, &t.state); err != nil { // into the plan that the graphs have
		return fmt.Errorf("checkpoint of update %d: its metadata %q cannot be read: %w", c.Step, StateKey, err)
	}
	if err := t.state.CapacityPlan.Validate(); err != nil {
		return fmt.Errorf("checkpoint of update %d: its metadata %q: capacity_plan: %w", c.Step, StateKey, err)
	}
	if before := c.Meta[ConfigurationKey]; before != "" && before != t.Seals.Configuration {
		t.state.Stopped, t.state.Waited, t.state.Perfect = "", 0, 0
	}
	if t.state.BestSmoothed == 0 { // a checkpoint of version 0.2.0
		t.state.BestSmoothed = t.state.BestNats
	}
	t.step = c.Step
	if err := t.Stream.Seek(t.state.Data); err != nil {
		return fmt.Errorf("checkpoint of update %d: %w", c.Step, err)
	}
	return Load(t.Store, c.Tensors)
}

// Stored returns tensors, of which only the names are read, with the values of the variables in store.
func Stored(store *model.Store, named []safetensors.Tensor) ([]safetensors.Tensor, error) {
	list := make([]safetensors.Tensor, len(named))
	for i, t := range named {
		v := store.GetVariable(universal.Path(t.Name))
		if v == nil {
			return nil, fmt.Errorf("parameter %s is missing", t.Name)
		}
		var err error
		if list[i], err = export(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// export copies a variable from the store under its public name.
func export(v *model.Variable) (safetensors.Tensor, error) {
	value, err := v.Value()
	if err != nil {
		return safetensors.Tensor{}, fmt.Errorf("parameter %s: %w", universal.Name(v.Path()), err)
	}
	t := safetensors.Tensor{Name: universal.Name(v.Path()), Shape: v.Shape().Dimensions}
	for name, dtype := range dtypeNames {
		if dtype == v.DType() {
			t.DType = name
		}
	}
	if t.DType == "" {
		return t, fmt.Errorf("parameter %s: type %s cannot be stored", t.Name, v.DType())
	}
	err = value.ConstBytes(func(data []byte) { t.Data = append([]byte(nil), data...) })
	return t, err
}

var dtypeNames = map[string]dtypes.DType{
	"F32": dtypes.Float32, "F64": dtypes.Float64, "I32": dtypes.Int32, "I64": dtypes.Int64,
	"U32": dtypes.Uint32, "U64": dtypes.Uint64, "U8": dtypes.Uint8, "BOOL": dtypes.Bool,
}

// Trained reports whether the variable at a path is a parameter of the model, not the optimizer's, an average or a random state.
func Trained(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, model.ScopeSeparator), model.ScopeSeparator)
	switch first {
	case optimizer.Scope, optimizer.AdamDefaultScope, strings.TrimPrefix(accumulated, "/"), strings.TrimPrefix(averaged, "/"), strings.TrimPrefix(muonMomenta, "/"), optimizer.GlobalStepVariableName, model.RNGStateVariableName:
		return false
	}
	return true
}

// Load sets variables from stored tensors, creating those that do not exist yet. A variable with another shape or type is an error that
// names it.
func Load(store *model.Store, stored []safetensors.Tensor) error {
	for _, s := range stored {
		dtype, ok := dtypeNames[s.DType]
		if !ok {
			return fmt.Errorf("parameter %s: unknown type %s", s.Name, s.DType)
		}
		shape := shapes.Make(dtype, s.Shape...)
		path := universal.Path(s.Name)
		if v := store.GetVariable(path); v != nil && !v.Shape().Equal(shape) {
			return fmt.Errorf("parameter %s has shape %s here but %s in the checkpoint: it belongs to another model", s.Name, v.Shape(), shape)
		}
		value := tensors.FromShape(shape)
		if err := value.MutableBytes(func(data []byte) { copy(data, s.Data) }); err != nil {
			return fmt.Errorf("parameter %s: %w", s.Name, err)
		}
		v := store.GetVariable(path)
		var err error
		if v == nil {
			v, err = store.CreateVariable(path, value)
		} else {
			err = v.SetValue(value)
		}
		if err != nil {
			return fmt.Errorf("parameter %s: %w", s.Name, err)
		}
		v.SetTrainable(Trained(path))
	}
	return nil
}

// Saved is what a checkpoint says about the training so far.
type Saved struct {
	Seconds    float64 // of training
	Stopped    string  // "accuracy", "perfect" or "patience": why training ended before its last update; "" if it did not
	Parameters int     // numbers in the parameters of the model
	BestStep   int64   // of the best validation so far; 0: there was none

	ValidationDue bool // the validation after this step is not made yet, so training can be resumed even after the last update
}

// SavedIn returns what a checkpoint says about the training so far, which is nothing if it holds the weights only.
func SavedIn(c *runlog.Checkpoint) (Saved, error) {
	var s state
	if kept, ok := c.Meta[StateKey]; !ok {
		// the weights only
	} else if err := json.Unmarshal([]byte(kept), &s); err != nil {
		return Saved{}, fmt.Errorf("checkpoint of update %d: its metadata %q cannot be read: %w", c.Step, StateKey, err)
	}
	saved := Saved{Seconds: s.Seconds, Stopped: s.Stopped, BestStep: s.BestStep, ValidationDue: s.ValidationDue}
	for _, p := range Parameters(c.Tensors) {
		n := 1
		for _, size := range p.Shape {
			n *= size
		}
		saved.Parameters += n
	}
	return saved, nil
}
