package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"universal-transformer/decoding"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// work holds the state of a benchmark.
type work struct {
	backend    compute.Backend
	shape      Shape
	model      universal.EncoderDecoder
	runner     *capacity.Runner // of all benchmarks but decoding
	planner    *capacity.Planner
	cacheBytes int

	peakOperations float64 // of one call, if that is what is measured

	encoderUpdates, decoderUpdates float64
}

// prepare returns the function to time.
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
	case "peak":
		return w.peak()
	}
	return w.decode(rng)
}

// batch returns the shape of the batch.
func (w *work) batch() capacity.Shape {
	return capacity.Shape{Rows: w.shape.Batch, Source: w.shape.Length, Target: w.shape.Length}
}

// call returns a function that executes a graph and waits for its outputs.
func (w *work) call(graph capacity.GraphBuilder, inputs ...any) (func() error, error) {
	store := model.NewStore()
	if w.shape.Adaptive && !w.shape.Masked {
		w.planner = &capacity.Planner{}
	}
	w.runner = capacity.NewRunner(w.backend, store, graph, w.planner)
	shape := w.batch()
	started := false
	return func() error {
		if !started { // the first execution creates the variables
			if err := w.start(store, graph, inputs); err != nil {
				return err
			}
			started = true
		}
		out, err := w.runner.Call(shape, inputs...)
		if err != nil {
			return err
		}
		if len(out) > 1 {
			w.encoderUpdates = float64(tensors.ToScalar[float32](out[1]))
		}
		if len(out) > 2 {
			w.decoderUpdates = float64(tensors.ToScalar[float32](out[2]))
		}
		return finalize(out)
	}, nil
}

// start initializes the variables, with the weights of the halting units drawn as PyTorch initializes a linear layer: if they were zero,
// all positions would halt in the same step.
func (w *work) start(store *model.Store, graph capacity.GraphBuilder, inputs []any) error {
	once := capacity.NewRunner(w.backend, store, graph, nil)
	defer once.Close()
	out, err := once.Call(w.batch(), inputs...)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for v := range store.IterVariables() {
		if name := universal.Name(v.Path()); strings.HasSuffix(name, "halting.weight") {
			values := make([]float32, v.Shape().Size())
			for i := range values {
				values[i] = (2*rng.Float32() - 1) / float32(math.Sqrt(float64(len(values))))
			}
			if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
				return err
			}
		}
	}
	return finalize(out)
}

func finalize(out []*tensors.Tensor) error {
	for _, tensor := range out {
		if err := tensor.FinalizeAll(); err != nil {
			return err
		}
	}
	return nil
}

// updateGraph builds one step of training: forward, backward, Adam.
func (w *work) updateGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	in := universal.Inputs{Source: nodes[0], Target: nodes[1], SourceCapacities: c.Source, TargetCapacities: c.Target}
	g := in.Target.Graph()
	scope.Store().SetTraining(g, true)
	result := w.model.Forward(scope, in, universal.Options{})
	loss, _ := objective.Objective{}.Of(result, in.Target, Scalar(g, dtypes.Float32, 0.01))
	optimizer.Adam().Betas(0.9, 0.999).Epsilon(1e-8).LearningRate(w.learningRate()).WeightDecay(0).Done().UpdateGraph(scope, g, loss)
	return append([]*Node{loss}, meanUpdates(result)...), result
}

// learningRate returns the learning rate. At adaptive depth it is so low that the number of steps does not change during the
// benchmark.
func (w *work) learningRate() float64 {
	if w.shape.Adaptive {
		return 1e-8
	}
	return 1e-4
}

func (w *work) encodeGraph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	memory, pass := w.model.Encode(scope, universal.Inputs{Source: nodes[0], SourceCapacities: c.Source}, universal.Options{})
	result := universal.Result{Encoder: pass}
	return append([]*Node{memory.State}, meanUpdates(result)...), result
}

// meanUpdates returns the mean number of updates per position, for each adaptive stack.
func meanUpdates(result universal.Result) (means []*Node) {
	for _, pass := range result.Passes() {
		if pass.Weighted() {
			means = append(means, ReduceAllMean(pass.Updates))
		}
	}
	return means
}

// gemm multiplies two square matrices.
func (w *work) gemm(rng *rand.Rand) (func() error, error) {
	matrix := func() *tensors.Tensor {
		values := make([]float32, gemmSize*gemmSize)
		for i := range values {
			values[i] = rng.Float32()
		}
		return tensors.FromFlatDataAndDimensions(values, gemmSize, gemmSize)
	}
	return w.call(func(_ *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		return []*Node{Dot(nodes[0], nodes[1]).Product()}, universal.Result{}
	}, matrix(), matrix())
}

// peak keeps the multiplication units busy.
func (w *work) peak() (func() error, error) {
	b, ok := w.backend.(interface{ PeakWork() (func(), float64) })
	if !ok {
		return nil, fmt.Errorf("backend %s cannot measure the peak of its device", w.backend.Name())
	}
	run, operations := b.PeakWork()
	w.peakOperations = operations
	return func() error { run(); return nil }, nil
}

// decode decodes as many tokens as a source has, greedily or with a beam.
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
	var method decoding.Method // greedy
	if w.shape.Beam > 0 {
		method.Beam = decoding.Beam{Width: w.shape.Beam, Alpha: 0.6}
	}
	search := func(next decoding.Next) error {
		_, err := method.Search(context.Background(), decoding.Request{Limits: limits, Next: endless(next)})
		return err
	}
	if w.shape.Uncached {
		return func() error {
			batch, err := d.StartUncached(sources)
			if err != nil {
				return err
			}
			defer batch.Close()
			return search(batch.Next)
		}, nil
	}
	return func() error {
		batch, err := d.Start(sources)
		if err != nil {
			return err
		}
		defer batch.Close()
		batch.Expect(w.shape.Length)
		if err := search(batch.Next); err != nil {
			return err
		}
		w.cacheBytes = batch.Bytes()
		return decoding.Freeze(w.backend, store) // as pipeline does; they exist after the first call
	}, nil
}

// endless makes End the least probable token, so that no sequence ends before its limit.
func endless(next decoding.Next) decoding.Next {
	return func(parents []int, tokens []vocab.ID) ([][]float64, error) {
		logP, err := next(parents, tokens)
		for _, row := range logP {
			row[vocab.End] = -1e9
		}
		return logP, err
	}
}
