package pipeline

import (
	"slices"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/training"
)

// described is a task that has vocabularies alone.
type described struct {
	task.Task
	vocabularies task.Vocabularies
}

func (d described) Vocabularies() task.Vocabularies { return d.vocabularies }

// slow is a backend that compiles slowly.
type slow struct{ compute.Backend }

func (slow) Name() string { return "xla" }

// The picture is of the longest example, the first of several, that has at most 64 positions on both sides. The targets of a language model
// are cut to them. A position has as many tokens as the task says.
// Caught when planted: no example of one token; one that is too long by one; the last of several.
func TestPicturedExample(t *testing.T) {
	u := experiment.Defaults().Model.Value.(experiment.EncoderDecoder)
	pairs, texts := runOn(table.Table{}), runOn(text.Text{})
	texts.Model.Value = experiment.LanguageModel(u)
	for _, c := range []struct {
		run         experiment.Run
		perPosition int
		lengths     [][2]int // of source and target
		want        int      // the example; -1: none
		target      int      // its tokens
	}{
		{pairs, 1, nil, -1, 0}, {pairs, 1, [][2]int{{1, 1}}, 0, 1}, {pairs, 1, [][2]int{{64, 1}}, 0, 1}, {pairs, 1, [][2]int{{65, 1}}, -1, 0}, {pairs, 1, [][2]int{{1, 64}}, 0, 64},
		{pairs, 1, [][2]int{{1, 65}}, -1, 0}, {pairs, 1, [][2]int{{3, 3}, {5, 1}, {5, 2}, {4, 4}}, 1, 1}, {pairs, 1, [][2]int{{5, 5}, {2, 6}, {65, 2}}, 1, 6},
		{pairs, 2, [][2]int{{128, 1}, {6, 4}}, 0, 1}, {pairs, 2, [][2]int{{130, 1}, {6, 4}, {8, 1}}, 1, 4},
		{texts, 1, [][2]int{{0, 10}, {0, 100}, {0, 70}}, 1, 64}, {texts, 1, [][2]int{{0, 1}}, 0, 1},
	} {
		v := task.Vocabularies{Source: vocabulary(t, "a b"), Target: vocabulary(t, "a b"), TokensPerPosition: c.perPosition}
		var examples []task.Example
		for i, n := range c.lengths {
			examples = append(examples, task.Example{Source: make([]vocab.ID, n[0]), Target: make([]vocab.ID, n[1]), Origin: i})
		}
		for first, backend := range map[time.Duration]compute.Backend{time.Minute: enginetest.Backend(t), time.Hour: slow{enginetest.Backend(t)}} {
			p := newPictures(&openRun{run: c.run, data: described{vocabularies: v}, backend: backend}, &training.Trainer{Model: c.run.Model.Value.Build(v, 1)}, examples)
			if (p == nil) != (c.want < 0) {
				t.Fatalf("%v: pictures %v, want example %d", c.lengths, p, c.want)
			}
			if p != nil && (p.example.Origin != c.want || len(p.example.Target) != c.target || len(p.example.Source) != c.lengths[c.want][0] || p.budget.next != first) {
				t.Errorf("%v: example %v with %d target tokens after %v, want %d with %d after %v", c.lengths, p.example.Origin, len(p.example.Target), p.budget.next, c.want, c.target, first)
			}
		}
		for i, n := range c.lengths {
			if len(examples[i].Target) != n[1] {
				t.Errorf("%v: the target of example %d is cut", c.lengths, i)
			}
		}
	}
}

// A picture counts: the next one is drawn when training has taken a tenth longer. It is of the model that is passed, at its step.
// Caught when planted: a picture that is not counted.
func TestPictureIsCounted(t *testing.T) {
	m := untrained(t)
	defer m.Close()
	p := &pictures{model: m, example: task.Example{Source: []vocab.ID{2, 3, 2}, Target: []vocab.ID{3}}, budget: pictureBudget{began: time.Now().Add(-time.Hour)}}
	store := model.NewStore()
	drawn, err := p.draw(store, 7)
	if err != nil || len(drawn) == 0 || m.store != store || m.Step != 7 {
		t.Fatalf("%d pictures of step %d, %v", len(drawn), m.Step, err)
	}
	if next := p.budget.next; next < 66*time.Minute || next > 67*time.Minute || p.budget.spent <= 0 {
		t.Errorf("the next picture comes after %v, %v are spent", next, p.budget.spent)
	}
	if again, err := p.draw(store, 8); len(again) != 0 || err != nil || m.Step != 7 {
		t.Errorf("another %d pictures at once, %v", len(again), err)
	}
}

// The pictures of a classifier of stories have a row for each position, of whatever number of tokens.
func TestPicturesOfPositions(t *testing.T) {
	m := untrained(t)
	defer m.Close()
	var sizes []int
	for _, perPosition := range []int{1, 3} {
		m.Vocabularies.TokensPerPosition = perPosition
		m.graph, m.store = m.Run.Model.Value.Build(m.Vocabularies, 1), model.NewStore()
		drawn, err := m.pictures(task.Example{Source: slices.Repeat([]vocab.ID{2, 3}, 3*perPosition), Target: []vocab.ID{3}})
		if err != nil || len(drawn) == 0 {
			t.Fatalf("%d tokens at a position: %d pictures, %v", perPosition, len(drawn), err)
		}
		sizes = append(sizes, drawn[0].Width, drawn[0].Height)
	}
	if sizes[0] != sizes[2] || sizes[1] != sizes[3] {
		t.Errorf("six positions are pictured as %v", sizes)
	}
}
