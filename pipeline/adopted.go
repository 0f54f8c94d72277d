package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/task"
)

// readsTexts reports whether a model of one task can start from a language model: it reads a source and answers with classes.
func readsTexts(k task.Kind) bool { return k == task.Classification || k == task.Tagging }

// adopted returns parameters of r's model, which reads sources, that start from those of a language model. The language model's stack becomes
// the encoder, and the rows of its embedding those of the same tokens. Parameters that a language model does not have, such as a readout of
// classes, keep their initial values; notes name them. The language model's own readout is not used.
func adopted(backend compute.Backend, r experiment.Run, from, to task.Vocabularies, parameters []safetensors.Tensor) (list []safetensors.Tensor, notes []string, err error) {
	tokens := matchTokens("source", from.Target, to.Source)
	if tokens.found == 0 {
		return nil, nil, tokens.nothing(from, to)
	}
	initial, err := initialValues(backend, r, to)
	if err != nil {
		return nil, nil, err
	}
	have := map[string]bool{}
	for _, p := range parameters {
		switch {
		case strings.HasPrefix(p.Name, "readout."):
			continue
		case strings.HasPrefix(p.Name, "decoder."):
			p.Name = "encoder." + strings.TrimPrefix(p.Name, "decoder.")
		case p.Name == "embedding.target":
			p.Name = "embedding.source"
			if p, err = tokens.move(p, initial[p.Name], 0); err != nil {
				return nil, nil, err
			}
		}
		have[p.Name] = true
		list = append(list, p)
	}
	var fresh []string
	for _, name := range slices.Sorted(maps.Keys(initial)) {
		if !have[name] && !strings.HasPrefix(name, "encoder.") { // a part of the stack that is missing is reported later
			list, fresh = append(list, initial[name]), append(fresh, name)
		}
	}
	notes = append(tokens.notes(from, to), fmt.Sprintf("the language model's stack becomes the encoder; parameters that begin with random weights: %s", strings.Join(fresh, ", ")))
	return list, notes, nil
}
