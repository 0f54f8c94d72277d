package universal_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/longtest"
	"universal-transformer/universal"
)

// Section 4 of the paper: "Given sufficient memory the Universal Transformer is computationally universal". The tests of this file give a
// Universal Transformer the weights with which it is a given Turing machine, any one with a single tape:
//
//   - the source is the tape, padded with blanks to as many cells as the computation needs ("sufficient memory"), and the mark of the head
//   - a step of the model is a step of the machine, and with halting.Length there are as many steps as cells
//   - the weights depend on the machine, not on the length; width and filter grow with its numbers of symbols, states and rules
//
// In n steps the head moves by at most n cells, so blanks on both sides make the tape large enough for any computation that stops. As in
// the paper's reduction of the Neural GPU, the transition is a convolution and attention adds nothing: its weights are zero.
//
// The tests say nothing of models of fixed depth. Whether those compute parity, the easiest example below and a regular language, depends on
// what is asked. With hard attention they do not at all lengths (Hahn, "Theoretical Limitations of Self-Attention in Neural Sequence Models",
// TACL 2020). With soft attention a single symbol, which always changes the parity, changes their output by O(1/length) only (his lemma 5),
// so their cross entropy approaches that of chance; but two layers with weights set by hand decide it without an error, and layer norm makes
// their cross entropy as small as wanted (Chiang and Cholak, "Overcoming a Theoretical Limitation of Self-Attention", ACL 2022).

// A turingMachine has symbols and states from 0; symbol 0 is the blank. Without a rule for its state and symbol it has stopped.
type turingMachine struct {
	symbols, states int
	rules           []turingRule
}

// A turingRule is: in this state at this symbol, write a symbol, enter a state, and move by -1, 0 or 1.
type turingRule struct{ state, symbol, write, next, move int }

// token is a cell of the tape, as a token of the source and as a class of the answer: its symbol, and the state if the head is there.
func (m turingMachine) token(symbol, state int) int32 {
	return int32(2 + symbol*(m.states+1) + state)
}

func (m turingMachine) tokens() int { return 2 + m.symbols*(m.states+1) }

// noHead is the state of a cell without the head.
func (m turingMachine) noHead() int { return m.states }

// cell is the reverse of token.
func (m turingMachine) cell(token int32) (symbol, state int) {
	return int(token-2) / (m.states + 1), int(token-2) % (m.states + 1)
}

// run is the machine itself, in loops: a tape after some steps. A head that leaves the tape is gone.
func (m turingMachine) run(tape []int32, steps int) []int32 {
	tape = slices.Clone(tape)
	head := slices.IndexFunc(tape, func(token int32) bool { _, state := m.cell(token); return state != m.noHead() })
	for range steps {
		if head < 0 || head >= len(tape) {
			break
		}
		symbol, state := m.cell(tape[head])
		at := slices.IndexFunc(m.rules, func(r turingRule) bool { return r.state == state && r.symbol == symbol })
		if at < 0 {
			break
		}
		r := m.rules[at]
		tape[head] = m.token(r.write, m.noHead())
		if head += r.move; head >= 0 && head < len(tape) {
			there, _ := m.cell(tape[head])
			tape[head] = m.token(there, r.next)
		}
	}
	return tape
}

// model is the Universal Transformer that is the machine, with the given depth. Of its channels, one per symbol, one per state and one for
// no head, two are 1 at every position and the others 0. Mean and variance are therefore always the same, and layer norm can keep them.
func (m turingMachine) model(depth halting.Policy) universal.Encoder {
	return universal.Encoder{Pool: universal.Each, Config: universal.Config{
		SourceVocabulary: m.tokens(), TargetVocabulary: m.tokens(), Width: m.symbols + m.states + 1, Heads: 1, Halting: depth,
		Coordinates: withoutCoordinates{}, Transition: universal.SeparableConvolution{Filter: 4 * len(m.rules)},
	}}
}

type withoutCoordinates struct{}

func (withoutCoordinates) At(int, int, int) float64 { return 0 }
func (withoutCoordinates) Validate() error          { return nil }

// weights are the weights by name; what is not listed is zero. The first convolution reads the own position only: with z = 1 for a
// rule's state + 1 for its symbol,
//
//	max(0, 2z - 2.5) - max(0, 2z - 3.5)
//
// is 1 where the rule applies and 0 elsewhere, also if z is off by a quarter, so that errors of rounding do not grow from step to step. The
// second convolution writes at the own position, and sets the state at the position the head moves to: units 1 and 2 of a rule are for the
// first, 3 and 4 for the second.
func (m turingMachine) weights() map[string][]float32 {
	width, filter, kernel := m.symbols+m.states+1, 4*len(m.rules), 5
	first, bias := make([]float32, width*filter), make([]float32, filter)
	moves, second := make([]float32, kernel*filter), make([]float32, filter*width)
	for i, r := range m.rules {
		for pair := range 2 {
			for sign := range 2 {
				unit := 4*i + 2*pair + sign
				first[r.symbol*filter+unit], first[(m.symbols+r.state)*filter+unit] = 2, 2
				bias[unit] = -2.5 - float32(sign)
				add := func(channel int, by float32) { second[unit*width+channel] += by * float32(1-2*sign) }
				none := m.symbols + m.noHead()
				if pair == 0 {
					moves[kernel/2*filter+unit] = 1
					add(r.symbol, -1)
					add(r.write, 1)
					add(m.symbols+r.state, -1)
					add(none, 1)
				} else {
					moves[(kernel/2-r.move)*filter+unit] = 1 // what a position gets is from where the head was
					add(m.symbols+r.next, 1)
					add(none, -1)
				}
			}
		}
	}
	embedding, readout := make([]float32, m.tokens()*width), make([]float32, width*m.tokens())
	for token := 2; token < m.tokens(); token++ {
		symbol, state := m.cell(int32(token))
		for _, channel := range []int{symbol, m.symbols + state} {
			embedding[token*width+channel], readout[channel*m.tokens()+token] = 1, 1
		}
	}
	mean := 2 / float64(width)
	gain := filled(width, math.Sqrt(mean*(1-mean)+universal.NormEpsilon))
	return map[string][]float32{
		"embedding.source": embedding, "readout.weight": readout,
		"encoder.transition.first.depthwise":  slices.Concat(filled(width, 0), filled(width, 1)), // the own position
		"encoder.transition.first.pointwise":  first,
		"encoder.transition.first.bias":       bias,
		"encoder.transition.second.depthwise": moves,
		"encoder.transition.second.pointwise": second,
		"encoder.self_attention_norm.gain":    gain, "encoder.self_attention_norm.bias": filled(width, mean),
		"encoder.transition_norm.gain": gain, "encoder.transition_norm.bias": filled(width, mean),
	}
}

func filled(n int, value float64) []float32 { return slices.Repeat([]float32{float32(value)}, n) }

// computer returns a function that runs the model of a machine on tapes, padded to the longest, and returns them as the model leaves them.
func computer(t *testing.T, m turingMachine, depth halting.Policy) func(tapes [][]int32) [][]int32 {
	t.Helper()
	ut, store := m.model(depth), model.NewStore()
	if err := ut.Validate(); err != nil {
		t.Fatal(err)
	}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) *Node {
		return ArgMax(ut.Forward(scope, universal.Inputs{Source: source}, universal.Options{}).Logits, -1, dtypes.Int32)
	})
	if err != nil {
		t.Fatal(err)
	}
	exec.SetMaxCache(-1)
	t.Cleanup(exec.Finalize)
	if _, err := exec.Call([][]int32{{2, 3}}); err != nil { // makes the variables
		t.Fatal(err)
	}
	weights := m.weights()
	for v := range store.IterVariables() {
		values := make([]float32, v.Shape().Size())
		copy(values, weights[universal.Name(v.Path())])
		delete(weights, universal.Name(v.Path()))
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
			t.Fatal(err)
		}
	}
	if len(weights) > 0 {
		t.Fatalf("the model has no %v", weights)
	}
	return func(tapes [][]int32) (left [][]int32) {
		t.Helper()
		longest := len(slices.MaxFunc(tapes, func(a, b []int32) int { return len(a) - len(b) }))
		rows := make([][]int32, len(tapes))
		for i, tape := range tapes {
			rows[i] = slices.Concat(tape, make([]int32, longest-len(tape)))
		}
		out, err := exec.Call(rows)
		if err != nil {
			t.Fatal(err)
		}
		classes := tensors.MustCopyFlatData[int32](out[0])
		for i, tape := range tapes {
			left = append(left, classes[i*longest:][:len(tape)])
		}
		return left
	}
}

// Machines with random rules, on tapes of different lengths with random symbols, leave the tapes that loops leave: every symbol, the place of
// the head and its state, after as many steps as there are cells.
// Caught when planted: one step too few; a reversed kernel; the state before instead of the next one; a threshold that is one lower.
func TestTuringMachines(t *testing.T) {
	changed, running := 0, 0
	for seed := range uint64(longtest.Of(8, 100)) {
		rng := rand.New(rand.NewPCG(7, seed))
		m := turingMachine{symbols: 2 + rng.IntN(3), states: 2 + rng.IntN(5)}
		for state := range m.states {
			for symbol := range m.symbols {
				if rng.IntN(20) > 0 {
					m.rules = append(m.rules, turingRule{state, symbol, rng.IntN(m.symbols), rng.IntN(m.states), rng.IntN(3) - 1})
				}
			}
		}
		var tapes [][]int32
		for _, cells := range []int{1, 2, 3, 17, 30, 31, 32} {
			tape := make([]int32, cells)
			for i := range tape {
				tape[i] = m.token(rng.IntN(m.symbols), m.noHead())
			}
			head := rng.IntN(cells)
			symbol, _ := m.cell(tape[head])
			tape[head] = m.token(symbol, rng.IntN(m.states))
			tapes = append(tapes, tape)
		}
		for i, got := range computer(t, m, halting.Length{})(tapes) {
			want, before := m.run(tapes[i], len(tapes[i])), m.run(tapes[i], len(tapes[i])-1)
			if !slices.Equal(got, want) {
				t.Errorf("machine %d, %d cells: %v, want %v", seed, len(tapes[i]), got, want)
			}
			for j := range want {
				if want[j] != tapes[i][j] {
					changed++
				}
			}
			if !slices.Equal(want, before) {
				running++
			}
		}
	}
	if changed < 100 || running < 10 {
		t.Errorf("%d cells change and %d of the machines run until the last step: the test says little", changed, running)
	}
}
