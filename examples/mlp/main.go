// Program mlp trains a classifier with GoMLX on the backend of package cpu. Nothing in it concerns transformers: the backend runs the
// graphs of any GoMLX program.
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	_ "universal-transformer/cpu" // registers the backend "cpu"
)

const (
	classes = 3
	batch   = 256
	hidden  = 64
	updates = 600
)

// logits is a perceptron with two hidden layers: x [B, 2] to [B, classes].
func logits(scope *model.Scope, x *Node) *Node {
	for i := range 2 {
		x = layers.DenseWithBias(scope.In("hidden%d", i), x, hidden)
		x = MaxScalar(x, 0)
	}
	return layers.DenseWithBias(scope.In("output"), x, classes)
}

// spirals draws points on three arms of a spiral, with noise: points [B, 2] and the arm of each, [B, 1].
func spirals(rng *rand.Rand) (points [][]float32, arms [][]int32) {
	for range batch {
		arm := rng.IntN(classes)
		radius := rng.Float64()
		angle := 5*radius + 2*math.Pi*float64(arm)/classes + 0.1*rng.NormFloat64()
		points = append(points, []float32{float32(radius * math.Cos(angle)), float32(radius * math.Sin(angle))})
		arms = append(arms, []int32{int32(arm)})
	}
	return points, arms
}

func run() error {
	backend, err := compute.NewWithConfig("cpu") // "cpu:threads=1" would use one thread
	if err != nil {
		return err
	}
	defer backend.Finalize()
	store := model.NewStore()
	adam := optimizer.Adam().LearningRate(0.01).Done()
	update, err := model.NewExec(backend, store, func(scope *model.Scope, x, y *Node) *Node {
		scope.Store().SetTraining(x.Graph(), true)
		cost := ReduceAllMean(loss.SparseCategoricalCrossEntropyLogits([]*Node{y}, []*Node{logits(scope, x)}))
		adam.UpdateGraph(scope, x.Graph(), cost)
		return cost
	})
	if err != nil {
		return err
	}
	defer update.Finalize()
	accuracy, err := model.NewExec(backend, store, func(scope *model.Scope, x, y *Node) *Node {
		correct := Equal(ArgMax(logits(scope, x), -1, y.DType()), Squeeze(y, -1))
		return ReduceAllMean(ConvertDType(correct, x.DType()))
	})
	if err != nil {
		return err
	}
	defer accuracy.Finalize()

	rng := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	for i := 1; i <= updates; i++ {
		x, y := spirals(rng)
		cost, err := update.Call1(x, y)
		if err != nil {
			return err
		}
		if i%200 == 0 {
			fmt.Printf("update %d: loss %.3f\n", i, tensors.ToScalar[float32](cost))
		}
	}
	x, y := spirals(rng)
	share, err := accuracy.Call1(x, y)
	if err != nil {
		return err
	}
	fmt.Printf("%s: accuracy %.3f on new points after %.1f s\n", backend.Description(), tensors.ToScalar[float32](share), time.Since(began).Seconds())
	if tensors.ToScalar[float32](share) < 0.9 {
		return fmt.Errorf("the classifier has not learned: accuracy %v", share)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
