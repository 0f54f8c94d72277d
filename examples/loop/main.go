// Program loop trains a Universal Transformer with a training loop of its own: GoMLX's RMSProp, which the configuration does not have,
// and a loss that it defines. It saves the model as a run, loads it, and asks it questions.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	ut "universal-transformer"
	"universal-transformer/engine"
	"universal-transformer/task"
	"universal-transformer/task/generated"
	"universal-transformer/universal"
)

const (
	rows    = 64 // B, the examples of an update
	updates = 600
)

// sorting is a task: the digits of the source in order, 3 1 2 -> 1 2 3.
var sorting = generated.Task{
	Name:       "sorting",
	Vocabulary: strings.Split("0123", ""),
	MaxLength:  6,
	Draw: func(rng *rand.Rand, length int) (source, target []string) {
		for range length {
			source = append(source, strconv.Itoa(rng.IntN(4)))
		}
		return source, slices.Sorted(slices.Values(source))
	},
}

// crossEntropy is the mean of -ln p of the targets [B, N] under logits [B, N, V], in nats. Padding, target 0, does not count.
func crossEntropy(logits, target *Node) *Node {
	g, vocabulary := logits.Graph(), logits.Shape().Dimensions[2]
	isTarget := Equal(InsertAxes(target, -1), Iota(g, shapes.Make(target.DType(), 1, 1, vocabulary), 2)) // [B, N, V]
	truth := ReduceSum(Mul(LogSoftmax(logits), ConvertDType(isTarget, logits.DType())), -1)              // [B, N]
	mask := ConvertDType(NotEqual(target, ScalarZero(g, target.DType())), logits.DType())
	return Neg(Div(ReduceAllSum(Mul(truth, mask)), ReduceAllSum(mask)))
}

// batch returns the sources [B, M] and targets [B, N] of an update, padded with 0.
func batch(data task.Task, seed uint64, update int) (source, target [][]int32) {
	longestSource, longestTarget := data.MaxLengths()
	for i := range rows {
		e := data.Training(seed, int64(update*rows+i))
		source, target = append(source, make([]int32, longestSource)), append(target, make([]int32, longestTarget))
		copy(source[i], e.Source)
		copy(target[i], e.Target)
	}
	return source, target
}

// train returns a store with the parameters of the run's model after all updates.
func train(backend compute.Backend, r ut.Run, data task.Task) (*model.Store, error) {
	m, store := r.Model.Value.Build(data.Vocabularies(), r.Seed), model.NewStore()
	rule := optimizer.RMSProp().LearningRate(0.001).Done()
	update, err := model.NewExec(backend, store, func(scope *model.Scope, source, target *Node) *Node {
		scope.Store().SetTraining(source.Graph(), true) // with dropout
		logits := m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits
		cost := crossEntropy(logits, target)
		rule.UpdateGraph(scope, source.Graph(), cost)
		return cost
	})
	if err != nil {
		return nil, err
	}
	defer update.Finalize()
	for i := range updates {
		cost, err := update.Call1(batch(data, r.Seed, i))
		if err != nil {
			return nil, err
		}
		if (i+1)%100 == 0 {
			fmt.Printf("update %d: loss %.3f\n", i+1, tensors.ToScalar[float32](cost))
		}
	}
	return store, nil
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "loop")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	dir, configured := filepath.Join(folder, "run"), ut.Defaults()
	configured.Name, configured.Task = "sorting", ut.Task{Value: sorting}
	configured, err = configured.Set("model.width=32", "model.transition.feedforward.filter=64", fmt.Sprintf("training.steps=%d", updates))
	if err != nil {
		return err
	}
	data, err := sorting.Open()
	if err != nil {
		return err
	}
	backend, err := engine.New("")
	if err != nil {
		return err
	}
	defer backend.Finalize() // after the parameters are saved
	store, err := train(backend, configured, data)
	if err != nil {
		return err
	}
	if err := ut.SaveTrained(dir, configured, data.Vocabularies(), store, updates); err != nil {
		return err
	}
	trained, err := ut.Load(dir, ut.LoadOptions{Extensions: ut.Extensions{Tasks: []task.Definition{sorting}}})
	if err != nil {
		return err
	}
	defer trained.Close()
	answers, err := trained.Decode(ctx, []string{"3120", "333210"}, ut.DecodeOptions{})
	if err != nil {
		return err
	}
	for _, a := range answers {
		fmt.Println("answer:", a.Text, a.Err)
	}
	evaluation, err := trained.Evaluate(ctx, ut.EvaluateOptions{Selection: ut.Selection{Length: 6, Count: 200}})
	fmt.Println(evaluation.Metrics)
	return err
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
