package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// initialize creates the checkpoint of update 0 of a run that starts from pretrained weights. Optimizer, batches and schedule start anew. A run
// with random weights has no such checkpoint.
func (t *openRun) initialize() error {
	if t.run.Training.Pretrained == "" {
		return nil
	}
	v := t.data.Vocabularies()
	source, notes, err := pretrained(t.backend, t.reading, v, t.callbacks.Extensions)
	if err != nil {
		return err
	}
	t.callbacks.log(fmt.Sprintf("starting from the weights of %s, update %d", t.reading.Training.Pretrained, source.Step))
	t.callbacks.log(notes...)
	t.from, err = training.Begin(source.Tensors, seals(t.backend, t.run, t.data))
	return err
}

// saveInitial saves the checkpoint of initialize.
func (t *openRun) saveInitial() error {
	if t.from == nil {
		return nil
	}
	return t.log.SaveCheckpoint(0, t.from, t.run.Training.Keep)
}

// pretrained returns the parameters of the checkpoint that [Load] reads from training.pretrained, with the rows of embeddings and the columns of
// readouts in the order of r's vocabularies; notes say which tokens are new, and which fields make r's model compute something else from the same
// parameters (number of heads, arrangement). It returns an error if the parameters are not those of r's
// model, or if the vocabularies have nothing in common. The task and the number of steps may differ; adaptive halting has parameters of its own.
// A language model also starts models that read sources and answer with classes; see adopted.
func pretrained(backend compute.Backend, r experiment.Run, v task.Vocabularies, x experiment.Extensions) (c *runlog.Checkpoint, notes []string, err error) {
	dir := r.Training.Pretrained
	m, err := LoadOptions{Extensions: x}.Load(dir, backend)
	if err != nil {
		return nil, nil, fmt.Errorf("training.pretrained: %w", err)
	}
	defer m.Close()
	parameters, err := m.parameters()
	if err != nil {
		return nil, nil, err
	}
	c = &runlog.Checkpoint{Step: m.checkpoint.Step, Tensors: parameters}
	if have := m.Vocabularies.Tokenizer; have != v.Tokenizer {
		return nil, nil, fmt.Errorf("training.pretrained: %s: its tokens are %s, those of %s are %s: %s", dir, have, r.Task.Value, v.Tokenizer,
			sameTokens(r, m.Run, have.String(), v.Tokenizer.String()))
	}
	switch {
	case m.Run.Task.Value.Kind() == task.LanguageModeling && readsTexts(r.Task.Value.Kind()):
		if c.Tensors, notes, err = adopted(backend, r, m.Vocabularies, v, c.Tensors); err != nil {
			return nil, nil, fmt.Errorf("training.pretrained: %s: %w", dir, err)
		}
	case !m.Vocabularies.Equal(v):
		if c.Tensors, notes, err = translated(backend, r, m.Vocabularies, v, c.Tensors); err != nil {
			return nil, nil, fmt.Errorf("training.pretrained: %s: %w", dir, err)
		}
	}
	if err := checkParameters(backend, r, v, c, "the new run describes"); err != nil {
		fix := "change model to that run's"
		if list := differences(r, m.Run); len(list) > 0 {
			fix = "set " + strings.Join(list, ", ") + " as in that run"
		}
		return nil, nil, fmt.Errorf("training.pretrained: %s: %w; %s, or choose another run", dir, err, fix)
	}
	if list := differences(r, m.Run); len(list) > 0 {
		notes = append(notes, "those weights were trained with "+strings.Join(list, ", ")+", and this run's model computes something else from them")
	}
	return c, notes, nil
}

// sameTokens says how a run gets the tokens of the one that it starts from, and its stack.
func sameTokens(r, from experiment.Run, have, want string) string {
	if _, chosen := r.Fields()["task."+r.TaskName()+".tokenizer"]; !chosen {
		return "train that run with task.tokenizer=" + want + ", or choose another run"
	}
	return "set " + strings.Join(append([]string{"task.tokenizer=" + have}, differences(r, from)...), ", ") + ", or choose another run"
}

// differences returns the assignments that give the model of a run the stack of another one: the fields on which shapes of parameters depend, or
// what is computed with them. It returns none if one of them repeats a step and the other is an LSTM.
func differences(r, from experiment.Run) (list []string) {
	fields, like := stackFields(r), stackFields(from)
	_, repeats := r.Model.Value.(experiment.UniversalKind)
	if _, both := from.Model.Value.(experiment.UniversalKind); repeats != both {
		return nil
	}
	adaptive := func(r experiment.Run) bool { return r.Policy() != nil && r.Policy().Weighted() }
	depth := repeats && (adaptive(r) != adaptive(from) || like["untied_layers"] == true || like["learned_steps"] == true)
	readout := r.Model.Value.Kind() == from.Model.Value.Kind()
	for _, field := range slices.Sorted(maps.Keys(like)) {
		part, _, _ := strings.Cut(field, ".")
		ignored := part == "halting" && !depth || !readout && (part == "tied_readout" || part == "shared_embedding")
		if value := like[field]; !ignored && fields[field] != value {
			list = append(list, fmt.Sprintf("model.%s=%v", field, value))
		}
	}
	parts := map[string]bool{}
	for field := range like {
		part, _, _ := strings.Cut(field, ".")
		parts[part] = true
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) { // JSON omits false and unset objects
		part, _, nested := strings.Cut(field, ".")
		switch _, there := like[field]; {
		case there || part == "halting":
		case fields[field] == true:
			list = append(list, fmt.Sprintf("model.%s=false", field))
		case nested && !parts[part]:
			list, parts[part] = append(list, fmt.Sprintf("model.%s={}", part)), true
		}
	}
	return list
}

// stackFields returns the fields of a run's model, without the key that names its kind and those that do not concern its parameters.
func stackFields(r experiment.Run) map[string]any {
	fields := map[string]any{}
	for path, value := range r.Fields() {
		rest, ok := strings.CutPrefix(path, "model.")
		_, field, _ := strings.Cut(rest, ".")
		switch part, _, _ := strings.Cut(field, "."); part {
		case "", "dropout", "positions", "counting", "pool", "evidence", "attention":
		default:
			if ok {
				fields[field] = value
			}
		}
	}
	return fields
}
