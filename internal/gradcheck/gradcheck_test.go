package gradcheck

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
)

// A recorder takes down what Check reports.
type recorder struct {
	testing.TB
	lines []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// check runs Check on sum(x^2 y) at x = (1, 2, 3), y = 2.
func check(t *testing.T, loss func(x, y *Node) *Node) (*recorder, map[string]float64, *model.Store) {
	store := model.NewStore()
	for path, value := range map[string][]float64{"/x": {1, 2, 3}, "/y": {2}} {
		if _, err := store.CreateVariable(path, tensors.FromFlatDataAndDimensions(value, len(value))); err != nil {
			t.Fatal(err)
		}
	}
	r := &recorder{TB: t}
	largest := Check(r, enginetest.Backend(t), store, func(scope *model.Scope, inputs []*Node) *Node {
		x, y := scope.GetVariable("x").NodeValue(inputs[0]), scope.GetVariable("y").NodeValue(inputs[0])
		return ReduceAllSum(Mul(loss(x, y), inputs[0]))
	}, []any{1.0}, 1e-8)
	return r, largest, store
}

func TestRightGradientsPass(t *testing.T) {
	r, largest, store := check(t, func(x, y *Node) *Node { return Mul(Square(x), y) })
	if len(r.lines) > 0 {
		t.Error(r.lines)
	}
	if largest["/x"] != 12 || largest["/y"] != 14 { // 2xy = 4, 8, 12 and 1 + 4 + 9
		t.Errorf("largest gradients are %v", largest)
	}
	if got := tensors.MustCopyFlatData[float64](store.GetVariable("/x").MustValue()); got[0] != 1 || got[2] != 3 {
		t.Errorf("x was left at %v", got)
	}
}

// A gradient that is stopped on one of two ways to the loss is wrong by a factor; only that variable is reported.
func TestWrongGradientsAreNamed(t *testing.T) {
	r, _, _ := check(t, func(x, y *Node) *Node { return Mul(Mul(x, StopGradient(x)), y) })
	if len(r.lines) != 1 || !strings.HasPrefix(r.lines[0], "/x ") || !strings.Contains(r.lines[0], "entry 2 has gradient 6,") {
		t.Errorf("reported: %q", r.lines)
	}
}
