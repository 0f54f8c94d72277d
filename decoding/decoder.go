package decoding

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/feed"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Decoder decodes with an encoder-decoder. Each source is encoded once; the decoder then runs over the whole prefix for every
// symbol. Not safe for concurrent use.
type Decoder struct {
	model        universal.EncoderDecoder
	encode, next *model.Exec
}

// New makes a decoder of a model whose variables are in store.
func New(backend compute.Backend, store *model.Store, m universal.EncoderDecoder) (*Decoder, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	d := &Decoder{model: m}
	var err error
	if d.encode, err = model.NewExec(backend, store, d.encodeGraph); err != nil {
		return nil, err
	}
	if d.next, err = model.NewExec(backend, store, d.nextGraph); err != nil {
		return nil, err
	}
	d.encode.SetMaxCache(-1)
	d.next.SetMaxCache(-1)
	return d, nil
}

// Close frees what the decoder compiled.
func (d *Decoder) Close() {
	d.encode.Finalize()
	d.next.Finalize()
}

func (d *Decoder) encodeGraph(scope *model.Scope, source *Node) *Node {
	scope.Store().SetTraining(source.Graph(), false)
	memory, _ := d.model.Encode(scope, universal.Inputs{Source: source}, universal.Watch{})
	return memory.State
}

// nextGraph gives the logits [R, V] at one position of the decoder, from the encoded sources [B, M, D], the sources' ids
// [B, M], the source that each row belongs to [R], the rows' symbols [R, N], and the position, counted from 0.
func (d *Decoder) nextGraph(scope *model.Scope, nodes []*Node) *Node {
	state, source, rows, symbols, position := nodes[0], nodes[1], InsertAxes(nodes[2], -1), nodes[3], nodes[4]
	g := state.Graph()
	scope.Store().SetTraining(g, false)
	ids := Gather(source, rows)
	memory := universal.Memory{State: Gather(state, rows), Mask: NotEqual(ids, ScalarZero(g, feed.Integer))}
	logits := d.model.Decode(scope, memory, universal.Inputs{Target: symbols}, universal.Watch{}).Logits // [R, N, V]
	here := Equal(Iota(g, shapes.Make(dtypes.Int32, logits.Shape().Dimensions...), 1), position)
	return ReduceSum(Where(here, logits, ZerosLike(logits)), 1) // GoMLX's portable backend has no DynamicSlice
}

// Encoded is a batch of encoded sources.
type Encoded struct {
	decoder *Decoder
	state   *tensors.Tensor // [B, M, D]
	source  *tensors.Tensor // [B, M]
}

// Encode runs the encoder over sources. Ids out of range are an error. Close what it gives.
func (d *Decoder) Encode(sources [][]vocab.ID) (*Encoded, error) {
	longest := 1
	for i, s := range sources {
		longest = max(longest, len(s))
		for _, id := range s {
			if id < 1 || int(id) >= d.model.SourceVocabulary {
				return nil, fmt.Errorf("decoding: source %d holds id %d, but ids go from 1 to %d", i, id, d.model.SourceVocabulary-1)
			}
		}
	}
	width := roundUp(longest)
	flat := make([]vocab.ID, len(sources)*width)
	for i, s := range sources {
		copy(flat[i*width:], s)
	}
	e := &Encoded{decoder: d, source: tensors.FromFlatDataAndDimensions(flat, len(sources), width)}
	out, err := d.encode.Call(e.source)
	if err != nil {
		return nil, err
	}
	e.state = out[0]
	return e, nil
}

// Close frees the tensors.
func (e *Encoded) Close() {
	_ = e.state.FinalizeAll()
	_ = e.source.FinalizeAll()
}

// Next is the function that the searches call.
func (e *Encoded) Next(sources []int, prefixes [][]vocab.ID) ([][]float32, error) {
	n := len(prefixes[0])
	width := roundUp(n + 1)
	rows := make([]int32, len(sources))
	symbols := make([]vocab.ID, 0, len(sources)*width)
	for r, prefix := range prefixes {
		rows[r] = int32(sources[r])
		symbols = append(symbols, prefix...)
		for range width - n { // what stands here is not read, but must not be padding: padding does not ponder
			symbols = append(symbols, vocab.End)
		}
	}
	out, err := e.decoder.next.Call(e.state, e.source, rows, tensors.FromFlatDataAndDimensions(symbols, len(rows), width), int32(n))
	if err != nil {
		return nil, err
	}
	flat := tensors.MustCopyFlatData[float32](out[0])
	_ = out[0].FinalizeAll()
	return slices.Collect(slices.Chunk(flat, len(flat)/len(rows))), nil
}

// Greedy decodes sources greedily, at most limit symbols each.
func (d *Decoder) Greedy(sources [][]vocab.ID, limit int) ([]Hypothesis, error) {
	encoded, err := d.Encode(sources)
	if err != nil {
		return nil, err
	}
	defer encoded.Close()
	return Greedy(encoded.Next, len(sources), limit)
}

// Beam decodes sources by beam search and gives the best hypothesis of each.
func (d *Decoder) Beam(sources [][]vocab.ID, limit int, beam Beam) ([]Hypothesis, error) {
	encoded, err := d.Encode(sources)
	if err != nil {
		return nil, err
	}
	defer encoded.Close()
	found, err := beam.Search(encoded.Next, len(sources), limit)
	if err != nil {
		return nil, err
	}
	result := make([]Hypothesis, len(found))
	for i := range found {
		result[i] = found[i][0]
	}
	return result, nil
}

// roundUp gives lengths few values, so that few graphs are compiled: 8, 12, 16, 24, 32, 48, 64, ...
func roundUp(length int) int {
	size := 8
	for size < length {
		if size&(size-1) == 0 {
			size += size / 2
		} else {
			size += size / 3
		}
	}
	return size
}
