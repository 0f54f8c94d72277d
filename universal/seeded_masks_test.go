package universal

import (
	"fmt"
	"os"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
)

// What a seed drops stays the same in later versions, because published losses depend on it: two masks in a row, over two sequences of
// three positions and eight channels, recorded with version 0.2.0. Numbers are whole, so the masks do not depend on the processor.
// Caught when planted: another number of random numbers, for the keys of positions or for the state of a stack.
func TestMasksOfASeed(t *testing.T) {
	if os.Getenv(enginetest.Variable) != "" {
		t.Skip("other backends have other random numbers")
	}
	store := model.NewStore()
	if err := store.SetRNGStateFromSeed(7); err != nil {
		t.Fatal(err)
	}
	c := Config{Dropout: Dropout{Residual: 0.5}}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, tokens, x *Node) []*Node {
		scope.Store().SetTraining(tokens.Graph(), true)
		m := c.newMasks(scope, tokens)
		return []*Node{m.drop(x, 0.5), m.drop(x, 0.25)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	ones := make([]float32, 2*3*8)
	for i := range ones {
		ones[i] = 1
	}
	out, err := exec.Call([][]int32{{2, 3, 4}, {4, 2, 0}}, tensors.FromFlatDataAndDimensions(ones, 2, 3, 8))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, mask := range out {
		var b strings.Builder
		for i, v := range tensors.MustCopyFlatData[float32](mask) {
			if i > 0 && i%8 == 0 {
				b.WriteByte(' ')
			}
			fmt.Fprint(&b, map[bool]string{true: "1", false: "0"}[v != 0])
		}
		got = append(got, b.String())
	}
	want := []string{"01100111 10100011 01000001 01011011 10101001 00011010", "11101001 11110100 11110101 11110111 11011111 11011001"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("mask %d is %s, want %s", i+1, got[i], want[i])
		}
	}
}
