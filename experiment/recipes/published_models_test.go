package recipes_test

import (
	"fmt"
	"math"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/execute"
)

// parameters counts the parameters of a model: fixed, and for each token of the vocabularies. Vocabularies of source and target count
// together; the models of the tables have as many parameters for a token of either, or none for those of one.
type parameters struct{ fixed, perToken float64 }

// parameters checks the number of parameters of a result. Without data, the model is built with the vocabulary of its task. With data, the size of
// the vocabularies follows from the number, and must be that of every model on the same data: all rows and seeds.
func (j *judge) parameters(r sweep.Result, recipe recipes.Recipe, was experiment.Run, facts facts) error {
	if len(recipe.Needs) == 0 {
		key := fmt.Sprintf("%#v %#v", was.Model.Value, was.Task.Value)
		if _, ok := j.counts[key]; !ok {
			j.counts[key] = parameters{fixed: countParameters(j.t, was, 0)}
		}
		if want := j.counts[key].fixed; float64(r.Parameters) != want {
			return fmt.Errorf("parameters is %d, the model has %v", r.Parameters, want)
		}
		return nil
	}
	key := fmt.Sprintf("%#v %T", was.Model.Value, was.Task.Value)
	c, ok := j.counts[key]
	if !ok {
		const few, many = 20, 30 // tokens
		ofFew, ofMany := countParameters(j.t, was, few), countParameters(j.t, was, many)
		c.perToken = (ofMany - ofFew) / (many - few)
		c.fixed = ofFew - few*c.perToken
		j.counts[key] = c
	}
	tokens := (float64(r.Parameters) - c.fixed) / c.perToken
	switch want := was.Subwords(); { // half a token is that of source or target alone
	case !(tokens >= 4) || 2*tokens != math.Trunc(2*tokens):
		return fmt.Errorf("parameters is %d, which are %v tokens", r.Parameters, tokens)
	case want > 0 && tokens != float64(want):
		return fmt.Errorf("parameters is %d, which are %v tokens: the tokenizer has %d", r.Parameters, tokens, want)
	}
	return facts.same(r, "parameters: size of the vocabularies", tokens)
}

// sequenceSets checks the sets of tables 4 to 6, and their numbers of tokens: those that the task of the configuration generates.
func (j *judge) sequenceSets(r sweep.Result, was experiment.Run, m *measure.Sequences) error {
	var want, have []set
	for _, s := range j.tables[r.Recipe].Sets {
		want = append(want, set{s.Name, s.Count})
	}
	for _, c := range algorithmic.HardCases(was.Task.Value, 400, 1) {
		want = append(want, set{c.Name, 200})
	}
	for _, c := range execute.Kinds(was.Task.Value, 1) {
		want = append(want, set{c.Name, 1000})
	}
	for _, s := range m.Sets {
		have = append(have, set{s.Name, s.Examples})
	}
	if err := sameSets(have, want); err != nil {
		return err
	}
	_, readsNoTarget := was.Model.Value.(experiment.NeuralGPU)
	for i, s := range m.Sets {
		tokens, err := j.tokens(r, was, s.Name)
		if err != nil {
			return err
		}
		if s.Decoded.Tokens.Total != tokens {
			return fmt.Errorf("measured: %s has %d tokens, want %d", s.Name, s.Decoded.Tokens.Total, tokens)
		}
		forced := halts(was)
		if sets := j.tables[r.Recipe].Sets; i < len(sets) {
			forced = forced || sets[i].Forced && !readsNoTarget
		}
		if forced != (s.Forced != nil) {
			return fmt.Errorf("measured: %s has teacher forcing %v, want %v", s.Name, s.Forced != nil, forced)
		}
		for _, steps := range []float64{s.Encoder, s.Decoder} {
			if err := stepsWithin(steps, 0, maxSteps(was)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tokens counts the tokens of the targets of a generated set, which all rows of a column share.
func (j *judge) tokens(r sweep.Result, was experiment.Run, name string) (int, error) {
	definition := was.Task.Value
	if n, ok := j.lengths[key(r, name)]; ok {
		return n, nil
	}
	opened, err := was.OpenTask()
	if err != nil {
		return 0, err
	}
	cases := append(algorithmic.HardCases(definition, 400, 200), execute.Kinds(definition, 1000)...)
	for _, s := range j.tables[r.Recipe].Sets {
		examples, err := opened.HeldOut(task.TestSeed, task.Selection{Length: s.Length, Mix: s.Mix, Count: s.Count})
		if err != nil {
			return 0, err
		}
		cases = append(cases, task.Case{Name: s.Name, Examples: examples})
	}
	for _, c := range cases {
		n := 0
		for _, e := range c.Examples {
			n += len(e.Target)
		}
		j.lengths[key(r, c.Name)] = n
	}
	return j.lengths[key(r, name)], nil
}
