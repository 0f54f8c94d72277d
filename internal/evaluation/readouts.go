package evaluation

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Readouts is what an exit rule costs.
type Readouts struct {
	// Extra is the mean number of readouts that the rule needs besides the answer's: one after each step that a position runs, except the
	// last. A classifier or a pointer is read out once for all positions.
	Extra float64 `json:"extra"`
	// Operations is the share that the rule adds to the operations of a pass in which every position runs every step: those of matrix
	// products and convolutions. 0 if the backend does not count them.
	Operations float64 `json:"operations"`
}

// Operations returns the number of operations of the matrix products and convolutions of a pass of the model over one example, without
// running it, or 0 if the backend does not count them.
func (e *Evaluator) Operations(example task.Example) (float64, error) {
	b := batch.Chunk([]task.Example{example}, batch.Plan{Rows: 1, TokensPerPosition: e.Plan.TokensPerPosition})[0]
	inputs, err := capacity.InputShapes(feed.Tensors(b, nil))
	if err != nil {
		return 0, err
	}
	exec, err := model.NewExec(e.Backend, e.Store, func(scope *model.Scope, nodes []*Node) *Node {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, len(nodes) == 2, false)
		return e.Model.Forward(scope, in, universal.Options{}).Logits
	})
	if err != nil {
		return 0, err
	}
	defer exec.Finalize()
	g, err := exec.Compile(inputs...)
	if err != nil {
		return 0, err
	}
	counts, ok := g.Executable().(interface{ Cost() (float64, int) })
	if !ok {
		return 0, nil
	}
	operations, _ := counts.Cost()
	return operations, nil
}
