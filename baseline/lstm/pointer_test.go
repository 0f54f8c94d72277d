package lstm_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/modeltest"
	"universal-transformer/universal"
)

// A distribution over the words of the context and no others, which depends on the question behind it; padding and rows of nothing
// change nothing.
// Caught when planted: shares of the question, the state of the rectangle's last place for that of the example's.
func TestPointer(t *testing.T) {
	c := small()
	c.TargetVocabulary = c.SourceVocabulary
	m := lstm.Pointer{Config: c, Separator: 2}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, source *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	exec.SetMaxCache(-1)
	defer exec.Finalize()
	run := func(source [][]int32) []float64 {
		out, err := exec.Call(source)
		if err != nil {
			t.Fatal(err)
		}
		return tensors.MustCopyFlatData[float64](out[0])
	}
	rows := [][]int32{{3, 5, 3, 2, 4}, {3, 5, 3, 2, 6}, {6, 4, 2}, {}}
	together := run(modeltest.Rectangle(rows, 7))
	for i, source := range rows[:3] {
		logits := together[i*7 : (i+1)*7]
		if far := modeltest.Distance(run(rows[i:i+1]), logits); far > 1e-12 {
			t.Errorf("example %d alone differs by %v", i, far)
		}
		there, sum := map[int32]bool{}, 0.0
		for _, token := range source {
			if token == 2 {
				break
			}
			there[token] = true
		}
		for token, l := range logits {
			if sum += math.Exp(l); there[int32(token)] != (l > -40) {
				t.Errorf("example %d: word %d has ln p %v", i, token, l)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("example %d: probabilities sum to %v", i, sum)
		}
	}
	if modeltest.Distance(together[:7], together[7:14]) < 1e-6 {
		t.Error("the question does not matter")
	}
	m.Separator = 0
	if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "a context and a question") {
		t.Error(err)
	}
}
