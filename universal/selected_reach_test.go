package universal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Transforming only selected positions also gives what all give with convolutions, whose windows reach over halted positions and over
// the ends of the list. The steps have to select some positions that halted, and leave out others.
// Caught when planted: only running positions selected; halted ones whose states change; a causal window taken for a centred one.
func TestSelectedPositionsReachNeighbours(t *testing.T) {
	source, target := [][]int32{nil, {2, 5, 5, 1, 6, 3, 4, 1}, nil}, [][]int32{nil, {3, 1, 4, 4, 2, 1, 1, 2, 4}, nil}
	for i := range 31 {
		source[0], target[0] = append(source[0], int32(1+i*i%6)), append(target[0], int32(1+i*i*i%4))
		source[2], target[2] = append(source[2], int32(1+i%17/3)), append(target[2], int32(1+i%13/4))
	}
	source, target = rectangle(source, 31), rectangle(target, 31)
	for _, c := range []struct {
		widths  [2]int
		preNorm bool
		dropout universal.Dropout
	}{{widths: [2]int{3, 1}, preNorm: true}, {widths: [2]int{2, 4}}, {widths: [2]int{3, 5}, dropout: universal.Dropout{Attention: 0.3, Transition: 0.25}}} {
		config := small()
		config.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Bias: 0.2, Epsilon: 0.01}}
		config.Transition, config.PreNorm, config.Dropout = universal.SeparableConvolution{Filter: 9, Widths: c.widths}, c.preNorm, c.dropout
		v := variant{name: fmt.Sprintf("widths %d", c.widths), model: universal.EncoderDecoder{Config: config}}
		compareSelected(t, v, source, target, 1e-9, []int{0, 3})
		got := measure(t, newMachine(t, v.model), stackCapacities{}, source, target)
		for _, stack := range []string{"encoder", "decoder"} {
			var running, computed []int
			for step, demand := range got.demand[stack+".demand"] {
				running, computed = append(running, 0), append(computed, int(demand[0]))
				for _, n := range got.values[stack+".updates"] {
					if int(n) > step {
						running[step]++
					}
				}
			}
			if !slices.ContainsFunc(computed, func(n int) bool { i := slices.Index(computed, n); return n > running[i] && n < running[0] }) {
				t.Errorf("%s, %s: %d positions run, %d are computed, so that nothing is compared", v.name, stack, running, computed)
			}
		}
	}
}

// adjacent is a transition of another module that takes the positions of x for neighbours, although they may be selected ones.
type adjacent struct{ universal.SeparableConvolution }

func (a adjacent) Apply(scope *model.Scope, x *Node, c universal.TransitionContext) *Node {
	c.Neighbours = nil
	return a.SeparableConvolution.Apply(scope, x, c)
}

// A transition with windows that does not ask for neighbours is refused where only a part of the positions is selected, because its
// results would be wrong. With all positions, or without windows, it works.
// Caught when planted: transitions without windows refused; selections of all positions, too.
func TestTransitionsMustAskForNeighbours(t *testing.T) {
	target := [][]int32{{2, 1, 4, 3, 3, 1, 2, 4}, {1, 1, 3, 2, 4, 4, 2, 1}}
	part := halting.Capacities{{Positions: 16, Rows: 2, Longest: 8}, {Positions: 9, Rows: 2, Longest: 8}}
	for _, c := range []struct {
		widths     [2]int
		capacities halting.Capacities
		refused    bool
	}{{[2]int{3, 5}, part, true}, {[2]int{3, 5}, part[:1], false}, {[2]int{1, 1}, part, false}} {
		config := small()
		config.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 2, Epsilon: 0.01}}
		config.Transition = adjacent{universal.SeparableConvolution{Filter: 5, Widths: c.widths}}
		x := newMachine(t, universal.Decoder{Config: config})
		exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, nodes []*Node) *Node {
			return x.model.Forward(scope, universal.Inputs{Target: nodes[0], TargetCapacities: c.capacities}, universal.Options{}).Logits
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = exec.Call(target)
		exec.Finalize()
		if (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "universal_test.adjacent has windows, but its Apply does not call Neighbours") {
			t.Errorf("widths %d, %d capacities: %v", c.widths, len(c.capacities), err)
		}
	}
}
