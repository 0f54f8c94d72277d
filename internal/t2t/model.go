package t2t

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"universal-transformer/internal/safetensors"
	"universal-transformer/universal"
)

// model assembles the parameters and the configuration.
func (c *conversion) model() (*Model, error) {
	query, ok := c.parameters["decoder.self_attention.query"]
	if !ok {
		return nil, errors.New("there is no decoder: variables of decoder/.../self_attention/multihead_attention/q are missing")
	}
	m := &Model{Config: universal.Config{Width: query.shape[0], Heads: c.options.Heads, ScaleEmbedding: true, Coordinates: universal.Tensor2Tensor{}}}
	_, encoder := c.parameters["encoder.self_attention.query"]
	m.LanguageModel = !encoder
	if c.preNorm && c.postNorm {
		return nil, errors.New("some norms stand before sub-layers and some after them: no model here has a place for that")
	}
	m.Config.PreNorm = c.preNorm
	for _, part := range []func(*Model) error{c.setTransition, c.setSteps, c.setTables, c.setSpace} {
		if err := part(m); err != nil {
			return nil, err
		}
	}
	m.Notes = c.notes
	for _, name := range slices.Sorted(maps.Keys(c.parameters)) {
		a := c.parameters[name]
		t, err := safetensors.New(name, a.shape, a.values)
		if err != nil {
			return nil, err
		}
		m.Parameters = append(m.Parameters, t)
	}
	return m, nil
}

// setTransition gives the biases of the transition their names.
func (c *conversion) setTransition(m *Model) error {
	names := [2]string{"inner", "outer"}
	first, separable := c.parameters["decoder.transition.first.depthwise"]
	second := c.parameters["decoder.transition.second.depthwise"]
	if separable {
		names = [2]string{"first", "second"}
	}
	for _, stack := range []string{"encoder", "decoder"} {
		for i, name := range names {
			from, to := fmt.Sprintf("%s.transition.%d.bias", stack, i+1), fmt.Sprintf("%s.transition.%s.bias", stack, name)
			if bias, ok := c.parameters[from]; ok {
				c.parameters[to] = bias
				delete(c.parameters, from)
			}
		}
	}
	bias, ok := c.parameters["decoder.transition."+names[0]+".bias"]
	if !ok || separable && second.shape == nil {
		return errors.New("variables of decoder/.../ffn are missing")
	}
	if separable {
		m.Config.Transition = universal.SeparableConvolution{Filter: bias.shape[0], Widths: [2]int{first.shape[0], second.shape[0]}}
	} else {
		m.Config.Transition = universal.FeedForward{Filter: bias.shape[0]}
	}
	return nil
}

// setSteps sets the number of steps and their signal.
func (c *conversion) setSteps(m *Model) error {
	table, learned := c.parameters["decoder.step"]
	steps := c.options.Steps
	switch {
	case learned && steps != 0 && steps != table.shape[0]:
		return fmt.Errorf("%d steps were asked for, but layer_embedding has signals for %d", steps, table.shape[0])
	case learned:
		steps = table.shape[0]
	case steps == 0:
		return ErrSteps
	default:
		c.notes = append(c.notes, "there are no learned step signals: sinusoidal ones are assumed (step_timing_signal_type sinusoid)")
	}
	m.Config.LearnedSteps, m.Config.ScaleSteps = learned, learned
	m.Config.Halting = c.policy(steps)
	return nil
}

// ErrSteps is the error if neither the variables nor Options tell the number of steps.
var ErrSteps = errors.New("the variables do not tell the number of steps (num_rec_steps, or act_max_steps)")

// ErrTargetSpace is the error if Options do not tell the target space.
var ErrTargetSpace = errors.New("target_space_embedding adds a vector to sources that depends on the problem, and the variables do not tell its number (the problem's target_space_id)")

// setTables sets embeddings and readout.
func (c *conversion) setTables(m *Model) error {
	joined, err := c.joined(m.Config.Width)
	if err != nil {
		return err
	}
	shared, isShared := joined["shared"]
	target, hasTarget := joined["target_emb"]
	source, hasSource := joined["input_emb"]
	softmax, hasSoftmax := joined["softmax"]
	switch {
	case isShared && (hasTarget || hasSource || hasSoftmax):
		return errors.New("there are shared and separate tables: no model here has a place for both")
	case isShared:
		source, target = shared, shared
		m.Config.TiedReadout, m.Config.SharedEmbedding = true, !m.LanguageModel
	case !hasTarget || !hasSoftmax || hasSource == m.LanguageModel:
		return errors.New("tables are missing: there must be symbol_modality/shared/weights_0, or input_emb, target_emb and softmax")
	default:
		c.parameters["readout.weight"] = softmax.transposed()
	}
	if !m.LanguageModel {
		c.parameters["embedding.source"], m.Config.SourceVocabulary = source, source.shape[0]
	}
	if !m.Config.SharedEmbedding {
		c.parameters["embedding.target"] = target
	}
	m.Config.TargetVocabulary = target.shape[0]
	return nil
}

// joined joins the shards of each kind of table.
func (c *conversion) joined(width int) (map[string]array, error) {
	joined := map[string]array{}
	for kind, shards := range c.tables {
		slices.SortFunc(shards, func(a, b shard) int { return a.number - b.number })
		var all array
		for i, s := range shards {
			if s.number != i || s.shape[1] != width {
				return nil, fmt.Errorf("%s/%s: weights_%d of shape %v does not fit: weights_%d of width %d is expected", c.modality[kind], kind, s.number, s.shape, i, width)
			}
			all.values = append(all.values, s.values...)
		}
		all.shape = []int{len(all.values) / width, width}
		joined[kind] = all
	}
	return joined, nil
}

// setSpace adds the vector of the target space, which tensor2tensor adds to all embedded sources, to the signal of the first step or, if that is not
// learned, to the table of sources.
func (c *conversion) setSpace(m *Model) error {
	switch {
	case c.space == nil:
		return nil
	case m.LanguageModel:
		return errors.New("variable target_space_embedding: a model without an encoder has no place for it")
	case c.options.TargetSpace < 0:
		return ErrTargetSpace
	case c.options.TargetSpace >= c.space.shape[0] || c.space.shape[1] != m.Config.Width:
		return fmt.Errorf("target_space_embedding has the shape %v: it has no row %d of width %d", c.space.shape, c.options.TargetSpace, m.Config.Width)
	}
	width, root := m.Config.Width, float32(math.Sqrt(float64(m.Config.Width)))
	vector := c.space.values[c.options.TargetSpace*width:][:width]
	name := "encoder.step"
	if !m.Config.LearnedSteps {
		name = "embedding.source"
	}
	if m.Config.SharedEmbedding && !m.Config.LearnedSteps { // sources get a table of their own
		m.Config.SharedEmbedding = false
		c.parameters["embedding.target"] = c.parameters[name]
	}
	a, ok := c.parameters[name]
	if !ok || a.shape[1] != width {
		return errors.New("variables of encoder/.../layer_embedding are missing")
	}
	a.values = slices.Clone(a.values)
	for i := range a.values {
		if name == "embedding.source" || i < width {
			a.values[i] += vector[i%width] / root
		}
	}
	c.parameters[name] = a
	return nil
}

// transposed returns the transposed matrix.
func (a array) transposed() array {
	rows, columns := a.shape[0], a.shape[1]
	t := array{[]int{columns, rows}, make([]float32, len(a.values))}
	for i, x := range a.values {
		t.values[i%columns*rows+i/columns] = x
	}
	return t
}
