package decoding

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Decoder decodes with a model. It keeps the graphs that it compiles, so one decoder should serve all sources. Not safe for concurrent
// use.
type Decoder struct {
	backend  compute.Backend
	config   universal.Config
	language *universal.Decoder        // nil if the model has a source
	model    *universal.EncoderDecoder // nil if it has none

	encode, crossCache, next, uncached *model.Exec
	gather, grow                       *Exec
}

// New makes a decoder of a model whose variables are in store.
func New(backend compute.Backend, store *model.Store, m universal.EncoderDecoder) (*Decoder, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	d := &Decoder{backend: backend, config: m.Config, model: &m}
	return d, d.prepare(store)
}

// NewLanguage makes a decoder of a language model, whose sources are prompts: an answer continues its prompt. A prompt may be empty.
func NewLanguage(backend compute.Backend, store *model.Store, m universal.Decoder) (*Decoder, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	d := &Decoder{backend: backend, config: m.Config, language: &m}
	return d, d.prepare(store)
}

func (d *Decoder) prepare(store *model.Store) (err error) {
	if d.gather, err = NewExec(d.backend, gatherGraph); err != nil {
		return err
	}
	if d.grow, err = NewExec(d.backend, d.growGraph); err != nil {
		return err
	}
	d.gather.SetMaxCache(-1)
	d.grow.SetMaxCache(-1)
	for _, e := range []struct {
		exec  **model.Exec
		graph func(*model.Scope, []*Node) []*Node
	}{{&d.encode, d.encodeGraph}, {&d.crossCache, d.crossCacheGraph}, {&d.next, d.nextGraph}, {&d.uncached, d.uncachedGraph}} {
		if *e.exec, err = model.NewExec(d.backend, store, e.graph); err != nil {
			return err
		}
		(*e.exec).SetMaxCache(-1)
	}
	return nil
}

// Close frees what the decoder compiled.
func (d *Decoder) Close() {
	for _, e := range []*model.Exec{d.encode, d.crossCache, d.next, d.uncached} {
		e.Finalize()
	}
	d.gather.Finalize()
	d.grow.Finalize()
}

// encodeGraph gives the encoded sources [B, M, D] and their mask [B, M].
func (d *Decoder) encodeGraph(scope *model.Scope, nodes []*Node) []*Node {
	memory := d.encoded(scope, nodes[0])
	return []*Node{memory.State, memory.Mask}
}

func (d *Decoder) encoded(scope *model.Scope, source *Node) universal.Memory {
	scope.Store().SetTraining(source.Graph(), false)
	memory, _ := d.model.Encode(scope, universal.Inputs{Source: source}, universal.Options{})
	return memory
}

// encodeSources pads sources to a batch, the last repeated until there are as many rows as rowsFor says, and calls a graph of the encoder
// with it.
func (d *Decoder) encodeSources(exec *model.Exec, sources [][]vocab.ID) ([]*tensors.Tensor, error) {
	longest := 1
	for _, s := range sources {
		longest = max(longest, len(s))
	}
	rows, width := rowsFor(len(sources)), roundUp(longest)
	flat := make([]vocab.ID, rows*width)
	for i := range rows {
		copy(flat[i*width:], sources[min(i, len(sources)-1)])
	}
	input := tensors.FromFlatDataAndDimensions(flat, rows, width)
	defer free(input)
	return exec.Call(input)
}

// check rejects ids that the model does not have.
func (d *Decoder) check(sources [][]vocab.ID) error {
	size := d.config.SourceVocabulary
	if d.language != nil {
		size = d.config.TargetVocabulary
	}
	for i, s := range sources {
		if steps := d.steps(roundUp(len(s))); steps > halting.MostSteps {
			return fmt.Errorf("source %d has %d tokens, and the model would run as many steps: at most %d can be run", i+1, len(s), halting.MostSteps)
		}
		for _, id := range s {
			if id < 1 || int(id) >= size {
				return fmt.Errorf("decoding: source %d holds id %d, but ids go from 1 to %d", i, id, size-1)
			}
		}
	}
	return nil
}

// logitRows takes the logits [R, V] out of a tensor, which is freed.
func logitRows(t *tensors.Tensor) [][]float64 {
	flat := make([]float64, t.Shape().Size())
	t.MustConstFlatData(func(data any) {
		switch values := data.(type) {
		case []float64:
			copy(flat, values)
		case []float32:
			for i, v := range values {
				flat[i] = float64(v)
			}
		}
	})
	size := t.Shape().Dimensions[1]
	free(t)
	return slices.Collect(slices.Chunk(flat, size))
}

// free releases tensors.
func free(list ...*tensors.Tensor) {
	for _, t := range list {
		_ = t.FinalizeAll()
	}
}

// integers is a vector of rows.
func integers(values []int) *tensors.Tensor {
	flat := make([]int32, len(values))
	for i, v := range values {
		flat[i] = int32(v)
	}
	return tensors.FromFlatDataAndDimensions(flat, len(values))
}

// rowsOf gathers rows of a node.
func rowsOf(x, rows *Node) *Node { return Gather(x, InsertAxes(rows, -1)) }
