package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// translated returns parameters that were trained with vocabularies from for the vocabularies to of r's model. Each token keeps its row of an
// embedding and its column of a readout, whatever its id is; new tokens have the row and column that a new run begins with. Padding, End
// and <unknown> are tokens too. Notes say which tokens are new and which are gone.
func translated(backend compute.Backend, r experiment.Run, from, to task.Vocabularies, parameters []safetensors.Tensor) ([]safetensors.Tensor, []string, error) {
	if (from.Source == nil) != (to.Source == nil) {
		return nil, nil, fmt.Errorf("its task and %s are of different kinds: choose another run", r.Task.Value)
	}
	source, target := matchTokens("source", from.Source, to.Source), matchTokens("target", from.Target, to.Target)
	if to.Source != nil && source.found == 0 {
		return nil, nil, source.nothing(from, to)
	}
	classes := r.Task.Value.Kind() == task.Classification || r.Task.Value.Kind() == task.Tagging
	if target.found == 0 && !classes { // a model may learn other classes of the same texts
		return nil, nil, target.nothing(from, to)
	}
	initial, err := initialValues(backend, r, to)
	if err != nil {
		return nil, nil, err
	}
	moved := slices.Clone(parameters)
	for i, p := range moved {
		switch p.Name {
		case "embedding.source":
			moved[i], err = source.move(p, initial[p.Name], 0)
		case "embedding.target":
			moved[i], err = target.move(p, initial[p.Name], 0)
		case "readout.weight":
			moved[i], err = target.move(p, initial[p.Name], 1)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if from.Source.Equal(from.Target) && to.Source.Equal(to.Target) {
		return moved, target.notes(from, to), nil
	}
	return moved, append(source.notes(from, to), target.notes(from, to)...), nil
}

// A tokenMap finds the tokens of one vocabulary in another.
type tokenMap struct {
	side      string // "source" or "target"
	old       []int  // for each id, that of the same token in the other vocabulary; -1: it is new
	new, gone []string
	found     int // tokens of both
}

// matchTokens matches the tokens of two vocabularies, which may both be nil.
func matchTokens(side string, from, to *vocab.Vocabulary) tokenMap {
	m := tokenMap{side: side}
	if to == nil {
		return m
	}
	for id := range vocab.ID(to.Size()) {
		token := to.Token(id)
		old, ok := from.ID(token)
		switch {
		case id <= vocab.End:
			old = id
		case ok && token != vocab.UnknownToken:
			m.found++
		case !ok:
			old = -1
			m.new = append(m.new, token)
		}
		m.old = append(m.old, int(old))
	}
	for id := vocab.End + 1; int(id) < from.Size(); id++ {
		if token := from.Token(id); !contains(to, token) {
			m.gone = append(m.gone, token)
		}
	}
	return m
}

// nothing is the error for vocabularies without a common token.
func (m tokenMap) nothing(from, to task.Vocabularies) error {
	return fmt.Errorf("none of its %s tokens (%s) is one of the new run's (%s): choose a run on the same tokens", m.side, quoted(from, m.gone), quoted(to, m.new))
}

func contains(v *vocab.Vocabulary, token string) bool {
	_, ok := v.ID(token)
	return ok
}

// maxNamed is the number of tokens that a message names.
const maxNamed = 10

// quoted lists some tokens, subwords as the text that they stand for.
func quoted(v task.Vocabularies, tokens []string) string {
	var list []string
	for _, token := range tokens[:min(len(tokens), maxNamed)] {
		if v.Subwords != nil {
			if id, ok := v.Subwords.Vocabulary().ID(token); ok {
				if text := v.Subwords.Text([]vocab.ID{id}); text != "" && !strings.Contains(text, "\uFFFD") { // not a part of a character
					token = text
				}
			}
		}
		list = append(list, fmt.Sprintf("%q", token))
	}
	if n := len(tokens) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(list, ", ")
}

// notes describes the difference between the vocabularies.
func (m tokenMap) notes(from, to task.Vocabularies) (lines []string) {
	if n := len(m.new); n > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d %s tokens are new and begin with random weights: %s", n, len(m.old), m.side, quoted(to, m.new)))
	}
	if n := len(m.gone); n > 0 {
		lines = append(lines, fmt.Sprintf("%d %s tokens of that run do not occur here: %s", n, m.side, quoted(from, m.gone)))
	}
	return lines
}

// move returns a matrix whose rows (axis 0) or columns (axis 1) belong to the tokens of the new vocabulary: those of the matrix p for the
// old one or, for new tokens, those of initial.
func (m tokenMap) move(p, initial safetensors.Tensor, axis int) (safetensors.Tensor, error) {
	other := 1 - axis
	if len(p.Shape) != 2 || len(initial.Shape) != 2 || p.Shape[other] != initial.Shape[other] || initial.Shape[axis] != len(m.old) || p.DType != initial.DType {
		return p, nil // of another model, which is reported later
	}
	size := len(p.Data) / (p.Shape[0] * p.Shape[1]) // bytes of a number
	data := slices.Clone(initial.Data)
	cell := func(t safetensors.Tensor, data []byte, token, at int) []byte {
		row, column := token, at
		if axis == 1 {
			row, column = at, token
		}
		start := (row*t.Shape[1] + column) * size
		return data[start : start+size]
	}
	for id, old := range m.old {
		if old >= p.Shape[axis] {
			return p, fmt.Errorf("parameter %s has %d tokens, and no token %d", p.Name, p.Shape[axis], old)
		}
		for at := range p.Shape[other] {
			if old >= 0 {
				copy(cell(initial, data, id, at), cell(p, p.Data, old, at))
			}
		}
	}
	return safetensors.Tensor{Name: p.Name, DType: p.DType, Shape: initial.Shape, Data: data}, nil
}
