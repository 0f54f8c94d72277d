package universal

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/engine/enginetest"
)

// A backend that cannot pad surrounds positions with the same zeros.
// Caught when planted: zeros on one side only; zeros before and after exchanged.
func TestSurroundByConcatenating(t *testing.T) {
	x := [][][]float32{{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}}
	for _, n := range [][2]int{{2, 1}, {0, 3}, {1, 0}, {0, 0}} {
		exec := MustNewExec(enginetest.Backend(t), func(x *Node) []*Node {
			return []*Node{surround(x, n[0], n[1]), surroundByConcatenating(x, n[0], n[1])}
		})
		out, err := exec.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if padded, concatenated := fmt.Sprint(out[0].Value()), fmt.Sprint(out[1].Value()); padded != concatenated {
			t.Errorf("%v: %s, want %s", n, concatenated, padded)
		}
		exec.Finalize()
	}
}
