package capacity

import (
	"errors"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/universal"
)

// failing is a backend that compiles and cannot execute. It counts what is compiled and not freed.
type failing struct {
	compute.Backend
	alive *int
}

type failingBuilder struct {
	compute.Builder
	alive *int
}

type failingExecutable struct {
	compute.Executable
	alive *int
}

var errExecuting = errors.New("it cannot be executed")

func (b failing) Builder(name string) compute.Builder {
	return failingBuilder{b.Backend.Builder(name), b.alive}
}

func (b failingBuilder) Compile() (compute.Executable, error) {
	e, err := b.Builder.Compile()
	if err == nil {
		*b.alive++
	}
	return failingExecutable{e, b.alive}, err
}

func (e failingExecutable) Execute([]compute.Buffer, []bool, compute.DeviceNum) ([]compute.Buffer, error) {
	return nil, errExecuting
}

func (e failingExecutable) Finalize() {
	*e.alive--
	e.Executable.Finalize()
}

// A graph that is compiled and fails is freed: nothing of it is left. Caught when planted: an executor that is not finalized.
func TestGraphsThatFailAreFreed(t *testing.T) {
	alive := 0
	graphs := NewGraphs(failing{enginetest.Backend(t), &alive}, model.NewStore(), Budget)
	defer graphs.Close()
	r := graphs.Runner(func(_ *model.Scope, nodes []*Node, _ Capacities) ([]*Node, universal.Result) {
		return []*Node{ReduceAllSum(nodes[0])}, universal.Result{}
	}, nil)
	for length := 1; length <= 3; length++ {
		_, err := r.Call(Shape{Source: length}, tensors.FromFlatDataAndDimensions(make([]float32, length), length))
		if s := graphs.Stats(); !errors.Is(err, errExecuting) || s.Compiled != length || s.Alive != 0 || alive != 0 {
			t.Fatalf("%d graphs are left of %+v: %v", alive, s, err)
		}
	}
}
