package pipeline

import (
	"context"
	"fmt"
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/viewer"
)

// A Diagnosis analyses wrong answers: where they go wrong, and whether the decoder attends to the right source tokens.
type Diagnosis struct {
	Wrong      int         `json:"wrong"`        // wrong answers
	Early      int         `json:"early"`        // wrong answers that end too early
	Late       int         `json:"late"`         // wrong answers that end too late, or not at all
	Substitute int         `json:"substitute"`   // wrong answers of the right length
	FirstWrong [10]int     `json:"first_wrong"`  // wrong answers by the tenth of the right answer that contains the first wrong token
	Attention  []Attention `json:"attention"`    // empty if the task knows no alignment or the model has no attention
	OverTraced int         `json:"over_answers"` // number of right answers, given to the model, that Attention was recorded on
}

// Attention describes the decoder head that attends most to the right source tokens.
type Attention struct {
	Right string  `json:"right"` // what is attended to: "the digit of the first number"
	Step  int     `json:"step"`  // from 1
	Head  int     `json:"head"`  // from 1
	Mean  float64 `json:"mean"`  // mean weight on the right token, over all tokens of the answers that have one
	Least float64 `json:"least"` // the smallest such weight
	Place int     `json:"place"` // position of the token with the smallest weight, from 1
}

// maxDiagnosed is the number of answers whose attention is recorded: a graph is compiled for each.
const maxDiagnosed = 4

// Diagnose analyses an evaluation with decoded answers.
func (m *Model) Diagnose(ctx context.Context, e Evaluation) (*Diagnosis, error) {
	if m.Run.Task.Value.Kind() != task.Transduction || len(e.Answers) != len(e.Examples) {
		return nil, fmt.Errorf("%s: only decoded answers can be diagnosed", m.Dir())
	}
	d := &Diagnosis{}
	for i, a := range e.Answers {
		d.add(a.Tokens, e.Examples[i].Target)
	}
	aligned, ok := m.Run.Task.Value.(task.Aligned)
	if !ok || !m.Traces() {
		return d, nil
	}
	var heads []*headTally
	for _, example := range e.Examples {
		if len(example.Source) > maxTraced || d.OverTraced == maxDiagnosed {
			continue
		}
		trace := m.newTrace()
		trace.Source, trace.Target = m.tokens(m.Vocabularies.Source, example.Source), m.tokens(m.Vocabularies.Target, example.Target)
		trace.Encoder, trace.Decoder = &viewer.Stack{Tokens: trace.Source}, &viewer.Stack{Tokens: trace.Target}
		inputs := []any{[][]int32{example.Source}, [][]int32{example.Target}}
		if _, err := m.record(ctx, trace, inputs, false); err != nil {
			return nil, err
		}
		if len(trace.Decoder.CrossAttention) == 0 {
			return d, nil
		}
		d.OverTraced++
		heads = tally(heads, trace.Decoder.CrossAttention, aligned.Align(trace.Source, len(trace.Target)))
	}
	d.Attention = best(heads)
	return d, nil
}

// add counts an answer if it is wrong.
func (d *Diagnosis) add(answer, right []vocab.ID) {
	if slices.Equal(answer, right) {
		return
	}
	d.Wrong++
	switch {
	case len(answer) < len(right):
		d.Early++
	case len(answer) > len(right):
		d.Late++
	default:
		d.Substitute++
	}
	first := 0
	for first < min(len(answer), len(right)-1) && answer[first] == right[first] {
		first++
	}
	d.FirstWrong[first*10/len(right)]++
}

// headTally accumulates the attention of one head in one step along one alignment.
type headTally struct {
	Attention
	key   [3]int // index of the alignment, of the step and of the head
	sum   float64
	count int
}

// tally adds the attention of one answer, [step][head][place][source], to that of others, which may have run other numbers of steps. Heads are in
// the order of their keys.
func tally(heads []*headTally, attention [][][][]float64, alignments []task.Alignment) []*headTally {
	for i, a := range alignments {
		for step := range attention {
			for head, weights := range attention[step] {
				key := [3]int{i, step, head}
				at, found := slices.BinarySearchFunc(heads, key, func(h *headTally, key [3]int) int { return slices.Compare(h.key[:], key[:]) })
				if !found {
					heads = slices.Insert(heads, at, &headTally{key: key, Attention: Attention{Right: a.Name, Step: step + 1, Head: head + 1, Least: 1}})
				}
				for place, source := range a.Source {
					if source >= 0 {
						heads[at].add(weights[place][source], place)
					}
				}
			}
		}
	}
	return heads
}

func (h *headTally) add(weight float64, place int) {
	h.sum += weight
	h.count++
	if weight < h.Least {
		h.Least, h.Place = weight, place+1
	}
}

// best returns, for every alignment, the head with the highest mean.
func best(heads []*headTally) (list []Attention) {
	for _, h := range heads {
		if h.count == 0 {
			continue
		}
		h.Mean = h.sum / float64(h.count)
		switch last := len(list) - 1; {
		case last < 0 || list[last].Right != h.Right:
			list = append(list, h.Attention)
		case h.Mean > list[last].Mean:
			list[last] = h.Attention
		}
	}
	return list
}

// Lines formats the diagnosis as text.
func (d *Diagnosis) Lines() []string {
	if d.Wrong == 0 && len(d.Attention) == 0 {
		return []string{"no answer is wrong"}
	}
	lines := []string{
		fmt.Sprintf("%d answers are wrong: %d end too early, %d too late or not at all, %d have the right length", d.Wrong, d.Early, d.Late, d.Substitute),
	}
	if d.Wrong > 0 {
		lines = append(lines, fmt.Sprintf("first wrong token, by tenths of the right answer: %v", d.FirstWrong))
	}
	for _, a := range d.Attention {
		line := fmt.Sprintf("attention on %s, over %d right answers: mean %.4f by head %d in step %d", a.Right, d.OverTraced, a.Mean, a.Head, a.Step)
		if a.Place > 0 {
			line += fmt.Sprintf(", least %.4f at token %d", a.Least, a.Place)
		}
		lines = append(lines, line)
	}
	return lines
}
