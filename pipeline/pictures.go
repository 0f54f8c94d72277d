package pipeline

import (
	"context"
	"time"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
	"universal-transformer/viewer"
)

// pictures draws attention and ponder times of one validation example while a model is trained.
type pictures struct {
	model   *Model
	example task.Example
	budget  pictureBudget
}

// pictureBudget limits the time of pictures to a small share of that of training, and their number to its logarithm.
type pictureBudget struct {
	began time.Time
	next  time.Duration // of training after which the next picture is drawn
	spent time.Duration
}

const (
	pictureShare    = 0.005 // of the time of training that earlier pictures may have taken when another one is drawn
	pictureInterval = 1.1   // ratio of the times of training at two pictures
)

// due reports whether a picture may be drawn now.
func (b pictureBudget) due(now time.Time) bool {
	trained := now.Sub(b.began)
	return trained >= b.next && b.spent.Seconds() <= pictureShare*trained.Seconds()
}

// drawn counts a picture.
func (b *pictureBudget) drawn(begin, end time.Time) {
	b.spent += end.Sub(begin)
	b.next = time.Duration(pictureInterval * float64(begin.Sub(b.began)))
}

// The first picture comes after a minute. It needs a graph of its own, which takes long to compile on some backends.
const (
	firstPicture     = time.Minute
	firstPictureSlow = time.Hour
)

// maxPictured is the largest number of positions in a picture.
const maxPictured = 64

// newPictures returns what draws pictures for the trainer of a run, or nil if the model has no steps or no validation example is short enough.
func newPictures(t *openRun, trainer *training.Trainer, validation []task.Example) *pictures {
	if _, deep := trainer.Model.(universal.Deep); !deep {
		return nil
	}
	v := t.data.Vocabularies()
	m := &Model{Run: t.run, Vocabularies: v, graph: trainer.Model, trained: trainer.Model, backend: t.backend}
	m.queue = queue.New(m.decoding)
	p := &pictures{model: m, budget: pictureBudget{began: time.Now(), next: firstPicture}}
	if engine.CompilesSlowly(t.backend) {
		p.budget.next = firstPictureSlow
	}
	best := 0 // the longest that fits: a short one shows little
	for _, e := range validation {
		if t.run.Task.Value.Kind() == task.LanguageModeling {
			e.Target = e.Target[:min(len(e.Target), maxPictured)]
		}
		if n := max(len(e.Source)/v.Positions(), len(e.Target)); n <= maxPictured && n > best {
			p.example, best = e, n
		}
	}
	if best == 0 {
		return nil
	}
	return p
}

// draw draws the pictures of the model with the variables of a store after a step; none if they are not due.
func (p *pictures) draw(store *model.Store, step int64) ([]tensorboard.Image, error) {
	begin := time.Now()
	if !p.budget.due(begin) {
		return nil, nil
	}
	defer func() { p.budget.drawn(begin, time.Now()) }()
	p.model.store, p.model.Step = store, step
	return p.model.pictures(p.example)
}

// pictures draws the pictures of a pass over an example, with the true tokens as the decoder's input.
func (m *Model) pictures(e task.Example) (list []tensorboard.Image, err error) {
	trace := m.newTrace()
	trace.Encoder = &viewer.Stack{Tokens: make([]string, len(e.Source)/m.Vocabularies.Positions())}
	inputs := []any{[][]int32{e.Source}}
	switch m.Run.Task.Value.Kind() {
	case task.Transduction:
		trace.Decoder = &viewer.Stack{Tokens: make([]string, len(e.Target))}
		inputs = append(inputs, [][]int32{e.Target})
	case task.LanguageModeling:
		trace.Encoder, trace.Decoder = nil, &viewer.Stack{Tokens: make([]string, len(e.Target))}
		inputs = []any{[][]int32{e.Target}}
	}
	if _, err := m.record(context.Background(), trace, inputs, false); err != nil {
		return nil, err
	}
	drawn, err := trace.Pictures()
	for _, p := range drawn {
		list = append(list, tensorboard.Image{Tag: p.Name, Width: p.Width, Height: p.Height, PNG: p.PNG})
	}
	return list, err
}
