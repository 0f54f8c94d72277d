package training

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// speed sums up the updates since the last events. Unlike the state, it is that of this process alone.
type speed struct{ updates, tokens, seconds float64 }

// scalars returns the figures of a row of metrics as "training/loss" and so on, in the order of their names. Counts are left out, and so are the
// ponder times of models of fixed depth.
func (t *Trainer) scalars(row map[string]any) (list []tensorboard.Scalar) {
	split, adaptive := row["split"], universal.Adaptive(t.Model)
	for _, name := range slices.Sorted(maps.Keys(row)) {
		value, ok := row[name].(float64)
		if !ok || name == "tokens" || name == "sequences" || !adaptive && (name == "encoder_ponder" || name == "decoder_ponder") {
			continue
		}
		list = append(list, tensorboard.Scalar{Tag: fmt.Sprintf("%s/%s", split, name), Value: float32(value)})
	}
	return list
}

// writeUpdateEvents writes the events of updates: their row of metrics, and how fast they were.
func (t *Trainer) writeUpdateEvents(row map[string]any) {
	window := t.window
	t.window = speed{}
	scalars := append(t.scalars(row),
		tensorboard.Scalar{Tag: runlog.SecondsTag, Value: float32(t.state.Seconds)},
		tensorboard.Scalar{Tag: "speed/tokens_per_second", Value: float32(window.tokens / window.seconds)},
		tensorboard.Scalar{Tag: "speed/updates_per_second", Value: float32(window.updates / window.seconds)},
		tensorboard.Scalar{Tag: "speed/compile_share", Value: float32(t.compileShare())})
	t.writeEvents(tensorboard.Event{Scalars: scalars})
}

// compileShare returns the share of the time since this process began to train that compiling took.
func (t *Trainer) compileShare() float64 {
	return t.graphs.Stats().Compiling.Seconds() / time.Since(t.started).Seconds()
}

// writeValidationEvents writes the events of a validation: its row of metrics, and pictures if they are due.
func (t *Trainer) writeValidationEvents(row map[string]any, pictures []tensorboard.Image) {
	scalars := append(t.scalars(row), tensorboard.Scalar{Tag: runlog.SecondsTag, Value: float32(t.state.Seconds)})
	t.writeEvents(tensorboard.Event{Scalars: scalars, Images: pictures})
}

// writeEvents writes an event of the latest update. After an error, this process writes no more events: training does not need them.
func (t *Trainer) writeEvents(e tensorboard.Event) {
	if t.Config.Events == schedule.NoEvents || t.eventsFailed {
		return
	}
	e.Time, e.Step = float64(time.Now().UnixMicro())/1e6, t.step
	if err := t.Log.AppendEvent(e); err != nil {
		t.eventsFailed = true
		t.notify(fmt.Sprintf("no more events are written for TensorBoard: %v", err))
	}
}

// pictures draws the pictures of a validation, if any are due. Training does not need them either.
func (t *Trainer) pictures() []tensorboard.Image {
	if t.Pictures == nil || t.Config.Events != "" || t.eventsFailed {
		return nil
	}
	list, err := t.Pictures(t.Store, t.step)
	if err != nil {
		t.Pictures = nil
		t.notify(fmt.Sprintf("no more pictures are drawn for TensorBoard: %v", err))
		return nil
	}
	return list
}
