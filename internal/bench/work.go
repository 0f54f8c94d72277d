package bench

import (
	"context"
	"math/rand/v2"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/decoding"
	"universal-transformer/objective"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// work is a measurement in preparation.
type work struct {
	backend     compute.Backend
	shape       Shape
	model       universal.EncoderDecoder
	meanUpdates float64
	cacheBytes  int
}

// prepare gives the function that is timed.
func (w *work) prepare(what string) (func() error, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	source := tensors.FromFlatDataAndDimensions(w.shape.ids(rng), w.shape.Batch, w.shape.Length)
	target := tensors.FromFlatDataAndDimensions(w.shape.ids(rng), w.shape.Batch, w.shape.Length)
	switch what {
	case "train", "act":
		return w.call(w.updateGraph, source, target)
	case "encode":
		return w.call(w.encodeGraph, source)
	case "gemm":
		return w.gemm(rng)
	}
	return w.decode(rng)
}

// call times one execution of a graph, its outputs waited for.
func (w *work) call(graph func(*model.Scope, []*Node) []*Node, inputs ...any) (func() error, error) {
	exec, err := model.NewExec(w.backend, model.NewStore(), graph)
	if err != nil {
		return nil, err
	}
	return func() error {
		out, err := exec.Call(inputs...)
		if err != nil {
			return err
		}
		if len(out) > 1 {
			w.meanUpdates = float64(tensors.ToScalar[float32](out[1]))
		}
		for _, tensor := range out {
			if err := tensor.FinalizeAll(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// updateGraph is one step of training: forward, backward, Adam.
func (w *work) updateGraph(scope *model.Scope, nodes []*Node) []*Node {
	in := universal.Inputs{Source: nodes[0], Target: nodes[1]}
	g := in.Target.Graph()
	scope.Store().SetTraining(g, true)
	result := w.model.Forward(scope, in, universal.Watch{})
	loss, _ := objective.Objective{}.Of(result, in.Target, Scalar(g, dtypes.Float32, 0.01))
	optimizer.Adam().Betas(0.9, 0.999).Epsilon(1e-8).LearningRate(1e-4).WeightDecay(0).Done().UpdateGraph(scope, g, loss)
	if !result.Decoder.Adaptive() {
		return []*Node{loss}
	}
	return []*Node{loss, ReduceAllMean(result.Decoder.Updates)}
}

func (w *work) encodeGraph(scope *model.Scope, nodes []*Node) []*Node {
	memory, _ := w.model.Encode(scope, universal.Inputs{Source: nodes[0]}, universal.Watch{})
	return []*Node{memory.State}
}

// gemm is the product of two square matrices.
func (w *work) gemm(rng *rand.Rand) (func() error, error) {
	matrix := func() *tensors.Tensor {
		values := make([]float32, gemmSize*gemmSize)
		for i := range values {
			values[i] = rng.Float32()
		}
		return tensors.FromFlatDataAndDimensions(values, gemmSize, gemmSize)
	}
	return w.call(func(_ *model.Scope, nodes []*Node) []*Node { return []*Node{Dot(nodes[0], nodes[1]).Product()} }, matrix(), matrix())
}

// decode is greedy decoding of as many symbols as a sequence is long, whatever comes out.
func (w *work) decode(rng *rand.Rand) (func() error, error) {
	store := model.NewStore()
	d, err := decoding.New(w.backend, store, w.model)
	if err != nil {
		return nil, err
	}
	sources := make([][]vocab.ID, w.shape.Batch)
	flat := w.shape.ids(rng)
	for i := range sources {
		sources[i] = flat[i*w.shape.Length : (i+1)*w.shape.Length]
	}
	limits := make([]int, len(sources))
	for i := range limits {
		limits[i] = w.shape.Length
	}
	greedy := func(next decoding.Next) error {
		_, err := decoding.Greedy(context.Background(), decoding.Request{Limits: limits, Next: endless(next)})
		return err
	}
	if w.shape.Uncached {
		return func() error {
			batch, err := d.StartUncached(sources)
			if err != nil {
				return err
			}
			defer batch.Close()
			return greedy(batch.Next)
		}, nil
	}
	return func() error {
		batch, err := d.Start(sources)
		if err != nil {
			return err
		}
		defer batch.Close()
		err = greedy(batch.Next)
		w.cacheBytes = batch.Bytes()
		return err
	}, nil
}

// endless keeps a decoder from ending: the end symbol is the least probable of all.
func endless(next decoding.Next) decoding.Next {
	return func(parents []int, symbols []vocab.ID) ([][]float64, error) {
		logits, err := next(parents, symbols)
		for _, row := range logits {
			row[vocab.End] = -1e9
		}
		return logits, err
	}
}
