package execute

import (
	"math/big"
	"math/rand/v2"
	"strconv"
)

// A writer draws a Script operation by operation.
type writer struct {
	rng     *rand.Rand
	length  int
	exact   bool
	free    []int  // unused variables
	lines   string // all lines except the last
	waiting *term  // the result of the previous operation; nil: none
}

const operationKinds = 6

// operation draws one of the six operations.
func (w *writer) operation(kind int) {
	switch kind {
	case 0:
		w.pair(w.operands(2))
	case 1:
		w.multiplication()
	case 2:
		w.waiting = w.operands(1)[0]
	case 3:
		both := w.operands(2)
		v := w.variable()
		w.lines += v + "=" + both[0].text + ";#"
		w.pair([]*term{{v, both[0].value}, both[1]})
	case 4:
		w.loop()
	case 5:
		w.conditional()
	}
}

func (w *writer) pair(of []*term) {
	sign, value := w.sign(of[0].value, of[1].value)
	w.waiting = &term{"(" + of[0].text + sign + of[1].text + ")", value}
}

// sign draws plus or minus, and computes the result.
func (w *writer) sign(a, b *big.Int) (string, *big.Int) {
	if w.rng.IntN(2) == 0 {
		return "+", new(big.Int).Add(a, b)
	}
	return "-", new(big.Int).Sub(a, b)
}

func (w *writer) multiplication() {
	a, c := w.operands(1)[0], w.constant()
	value := new(big.Int).Mul(a.value, c.value)
	if w.rng.IntN(2) == 1 {
		a, c = c, a
	}
	w.waiting = &term{"(" + a.text + "*" + c.text + ")", value}
}

func (w *writer) loop() {
	both, v, c := w.operands(2), w.variable(), w.constant()
	sign, value := w.sign(both[0].value, new(big.Int).Mul(c.value, both[1].value))
	w.lines += v + "=" + both[0].text + "#for x in range(" + c.text + "):" + v + sign + "=" + both[1].text + "#"
	w.waiting = &term{v, value}
}

func (w *writer) conditional() {
	of := w.operands(4)
	comparator, wanted := "<", -1
	if w.rng.IntN(2) == 1 {
		comparator, wanted = ">", 1
	}
	value := of[3].value
	if of[1].value.Cmp(of[2].value) == wanted {
		value = of[0].value
	}
	w.waiting = &term{"(" + of[0].text + " if " + of[1].text + comparator + of[2].text + " else " + of[3].text + ")", value}
}

// operands returns n terms in random order: the pending result, if there is one, and new numbers.
func (w *writer) operands(n int) []*term {
	of := make([]*term, 0, n)
	if w.waiting != nil {
		of = append(of, w.waiting)
	}
	for len(of) < n {
		of = append(of, w.literal())
	}
	w.rng.Shuffle(n, func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

// digits returns the length of the next number.
func (w *writer) digits() int {
	if w.exact {
		return w.length
	}
	return 1 + w.rng.IntN(w.length)
}

// literal draws a number uniformly from 1..10^L: L random digits, where all zeros stand for 10^L.
func (w *writer) literal() *term {
	n := w.digits()
	text := make([]byte, n)
	for i := range text {
		text[i] = digits[w.rng.IntN(len(digits))]
	}
	value := integer(string(text))
	if value.Sign() == 0 {
		value.Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	}
	return &term{value.String(), value}
}

// constant draws a number uniformly from 1..4L.
func (w *writer) constant() *term {
	c := 1 + w.rng.IntN(4*w.digits())
	return &term{strconv.Itoa(c), big.NewInt(int64(c))}
}

// variable returns an unused variable.
func (w *writer) variable() string {
	v := w.free[0]
	w.free = w.free[1:]
	return variables[v : v+1]
}
