package universal_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/longtest"
)

// Symbols of tapes of bits.
const blank, bit0, bit1 = 0, 1, 2

// tapeOf is the tape of some bits and blanks up to a number of cells, with the head at the first cell in state 0.
func tapeOf(m turingMachine, bits []int, cells int) []int32 {
	tape := make([]int32, cells)
	for i := range tape {
		symbol, state := blank, m.noHead()
		if i < len(bits) {
			symbol = bit0 + bits[i]
		}
		if i == 0 {
			state = 0
		}
		tape[i] = m.token(symbol, state)
	}
	return tape
}

// stateOf returns the state that a machine is in, or -1 if the head has left the tape.
func stateOf(m turingMachine, tape []int32) int {
	for _, token := range tape {
		if _, state := m.cell(token); state != m.noHead() {
			return state
		}
	}
	return -1
}

func randomBits(rng *rand.Rand, n int) []int {
	bits := make([]int, n)
	for i := range bits {
		bits[i] = rng.IntN(2)
	}
	return bits
}

// parity reads bits from left to right; its state is their parity.
func parity() turingMachine {
	return turingMachine{symbols: 3, states: 2, rules: []turingRule{
		{0, bit0, bit0, 0, 1}, {0, bit1, bit1, 1, 1}, {1, bit0, bit0, 1, 1}, {1, bit1, bit1, 0, 1},
	}}
}

// Parity at every length up to 512, three random strings each. The short form leaves out most lengths above 32. A string of n bits takes n
// steps, the last of which moves to the blank behind it.
// Caught when planted: a rule with the wrong next state; a reversed kernel.
func TestParityAtEveryLength(t *testing.T) {
	groups := [][]int{nil, {64, 100, 128}, {255, 256}, {511, 512}} // that are padded alike
	for n := range 33 {
		groups[0] = append(groups[0], n)
	}
	if longtest.Enabled() {
		for n := 33; n < 512; n++ {
			if n == 33 || n%16 == 0 {
				groups = append(groups, nil)
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], n)
		}
	}
	m := parity()
	compute := computer(t, m, halting.Length{})
	rng := rand.New(rand.NewPCG(6, 0))
	for _, group := range groups {
		var tapes [][]int32
		var want []int
		for _, n := range slices.Repeat(group, 3) {
			bits, ones := randomBits(rng, n), 0
			for _, b := range bits {
				ones += b
			}
			tapes, want = append(tapes, tapeOf(m, bits, n+1)), append(want, ones%2)
		}
		for i, got := range compute(tapes) {
			if state := stateOf(m, got); state != want[i] {
				t.Errorf("%d bits: state %d, want %d", len(tapes[i])-1, state, want[i])
			}
		}
	}
}

// The states of palindromes.
const (
	start, carry0, carry1, check0, check1, back, accept, reject = 0, 1, 2, 3, 4, 5, 6, 7
)

// palindromes erases the first and the last bit, if they are equal, until none is left. Palindromes are not a regular language.
func palindromes() turingMachine {
	return turingMachine{symbols: 3, states: 8, rules: []turingRule{
		{start, blank, blank, accept, 0}, {start, bit0, blank, carry0, 1}, {start, bit1, blank, carry1, 1},
		{carry0, bit0, bit0, carry0, 1}, {carry0, bit1, bit1, carry0, 1}, {carry0, blank, blank, check0, -1},
		{carry1, bit0, bit0, carry1, 1}, {carry1, bit1, bit1, carry1, 1}, {carry1, blank, blank, check1, -1},
		{check0, bit0, blank, back, -1}, {check0, bit1, bit1, reject, 0}, {check0, blank, blank, accept, 0},
		{check1, bit1, blank, back, -1}, {check1, bit0, bit0, reject, 0}, {check1, blank, blank, accept, 0},
		{back, bit0, bit0, back, -1}, {back, bit1, bit1, back, -1}, {back, blank, blank, start, 1},
	}}
}

// A computation longer than its input gets a longer tape: to accept a palindrome of n bits takes (n+1)(n+2)/2 steps and so many cells, of
// which only n+1 are ever used. With one cell less, and so one step less, there is no answer yet.
// Caught when planted: a rule less; one step too few.
func TestPalindromes(t *testing.T) {
	m := palindromes()
	compute := computer(t, m, halting.Length{})
	rng := rand.New(rand.NewPCG(9, 0))
	for n := range longtest.Of(15, 31) {
		cells := (n + 1) * (n + 2) / 2
		var tapes [][]int32
		var strings [][]int
		for i := range 8 {
			bits := randomBits(rng, n)
			for k := range n / 2 {
				bits[n-1-k] = bits[k]
			}
			if wrong := rng.IntN(n/2 + 1); i%2 == 1 && wrong < n/2 {
				bits[wrong] = 1 - bits[wrong]
			}
			tapes, strings = append(tapes, tapeOf(m, bits, cells)), append(strings, bits)
		}
		if n > 0 {
			tapes, strings = append(tapes, tapeOf(m, strings[0], cells-1)), append(strings, nil)
		}
		for i, got := range compute(tapes) {
			backwards := slices.Clone(strings[i])
			slices.Reverse(backwards)
			switch state := stateOf(m, got); {
			case len(tapes[i]) < cells && state == accept:
				t.Errorf("%d bits: accepted after %d steps", n, cells-1)
			case len(tapes[i]) == cells && slices.Equal(strings[i], backwards) && state != accept, len(tapes[i]) == cells && !slices.Equal(strings[i], backwards) && state != reject:
				t.Errorf("%v: state %d", strings[i], state)
			}
		}
	}
}
