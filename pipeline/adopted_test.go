package pipeline

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// recipeRun returns the run of a recipe.
func recipeRun(t *testing.T, name string) experiment.Run {
	t.Helper()
	recipe, err := recipes.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return recipe.Run()
}

// valuesOf returns the initial parameters of a run with a seed.
func valuesOf(t *testing.T, r experiment.Run, seed uint64, v task.Vocabularies) map[string]safetensors.Tensor {
	t.Helper()
	r.Seed = seed
	values, err := initialValues(enginetest.Backend(t), r, v)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// Pointers start from the stack of a language model, and from its embedding's rows of the same words, whatever their ids; the rest begins as
// in a new run. Universal Transformers, Transformers and LSTMs do, and the result fits the model.
// Caught when planted: rows by id instead of by word, a stack with random weights, the values of the new run for all.
func TestLanguageModelsStartReaders(t *testing.T) {
	from := task.Vocabularies{Tokenizer: vocab.Whitespace, Target: vocabulary(t, "a b c")}
	words := vocabulary(t, "c <question> a d")
	to := task.Vocabularies{Tokenizer: vocab.Whitespace, Source: words, Target: words}
	for _, family := range []string{"lambada", "lambada-transformer", "lambada-lstm"} {
		language, reading := recipeRun(t, family+"/language"), recipeRun(t, family+"/reading")
		old := valuesOf(t, language, 7, from)
		var parameters []safetensors.Tensor
		for _, p := range old {
			parameters = append(parameters, p)
		}
		list, notes, err := adopted(enginetest.Backend(t), reading, from, to, parameters)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkParameters(enginetest.Backend(t), reading, to, &runlog.Checkpoint{Tensors: list}, "the new run describes"); err != nil {
			t.Errorf("%s: %v", family, err)
		}
		fresh, stack := valuesOf(t, reading, reading.Seed, to), 0
		for _, p := range list {
			switch name, inStack := strings.CutPrefix(p.Name, "encoder."); {
			case inStack:
				if stack++; !bytes.Equal(p.Data, old["decoder."+name].Data) {
					t.Errorf("%s: %s is not the language model's", family, p.Name)
				}
			case p.Name == "embedding.source":
				row := func(of safetensors.Tensor, id vocab.ID) []byte {
					size := len(of.Data) / of.Shape[0]
					return of.Data[int(id)*size : (int(id)+1)*size]
				}
				for word, known := range map[string]bool{"a": true, "c": true, "d": false, "<question>": false} {
					at, _ := words.ID(word)
					was, ok := from.Target.ID(word)
					want := row(fresh[p.Name], at)
					if known {
						want = row(old["embedding.target"], was)
					}
					if ok != known || !bytes.Equal(row(p, at), want) {
						t.Errorf("%s: the row of %q is another", family, word)
					}
				}
			case !bytes.Equal(p.Data, fresh[p.Name].Data):
				t.Errorf("%s: %s does not begin as in a new run", family, p.Name)
			}
		}
		if said := strings.Join(notes, "\n"); stack < 3 || !strings.Contains(said, "random weights: embedding.evidence, pointer.weight") || !strings.Contains(said, `"d"`) {
			t.Errorf("%s: %d parameters of the stack, %s", family, stack, said)
		}
	}
}

// A model cannot start from a language model with no common token or another stack. The language model's own readout is ignored.
func TestLanguageModelsThatDoNotFit(t *testing.T) {
	from := task.Vocabularies{Tokenizer: vocab.Whitespace, Target: vocabulary(t, "a b c")}
	words := vocabulary(t, "c <question> a d")
	to := task.Vocabularies{Tokenizer: vocab.Whitespace, Source: words, Target: words}
	reading := recipeRun(t, "lambada/reading")
	for want, c := range map[string]struct {
		model string
		to    task.Vocabularies
	}{
		"none of its source tokens": {"lambada/language", task.Vocabularies{Tokenizer: vocab.Whitespace, Source: vocabulary(t, "x <question>"), Target: words}},
		"does not belong":           {"lambada-transformer/language", to},
		"":                          {"lambada/language", to},
	} {
		language := recipeRun(t, c.model)
		lm := language.Model.Value.(experiment.LanguageModel)
		lm.TiedReadout = false
		language.Model.Value = lm
		values := valuesOf(t, language, 7, from)
		var parameters []safetensors.Tensor
		for _, name := range slices.Sorted(maps.Keys(values)) { // as in a checkpoint
			parameters = append(parameters, values[name])
		}
		list, _, err := adopted(enginetest.Backend(t), reading, from, c.to, parameters)
		if err == nil {
			err = checkParameters(enginetest.Backend(t), reading, c.to, &runlog.Checkpoint{Tensors: list}, "the new run describes")
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
