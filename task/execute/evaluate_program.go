package execute

import "math/big"

// EvaluateProgram computes a [Program] from its text, modulo 10^(L+1), where L is the number of digits of all its numbers:
//
//	operation = operand ("+" | "-" | "*") operand
//	          | operand "if" operand ("<" | ">") operand "else" operand
//	          | "x=" operand "for[" 1..9 "]x+=" operand
//	operand   = number | "(" operation ")"
//
// Any operand may be parenthesized; the generator only parenthesizes the first. Other text is a [*SyntaxError].
func EvaluateProgram(text string) (answer string, of Summary, err error) {
	return evaluateProgram(text, "")
}

// evaluateProgram computes a program in which every result of one operation is larger by one; "" raises none.
func evaluateProgram(text, raised string) (answer string, of Summary, err error) {
	if len(text) > maxText {
		return "", of, errorf(maxText, "a program has at most %d characters", maxText)
	}
	p := programParser{scanner: scanner{text: text}, of: &of, raised: raised}
	value, err := p.operation(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return "", of, err
	}
	modulus := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Digits+1)), nil)
	if value = value.Rem(value, modulus); value.Sign() < 0 {
		value.Add(value, modulus)
	}
	return value.String(), of, nil
}

type programParser struct {
	scanner
	of     *Summary
	raised string // operation whose results are larger by one
}

// done notes an operation, and returns its result.
func (p *programParser) done(op string, at int, value *big.Int) *big.Int {
	p.of.saw(op, at+1)
	if op == p.raised {
		value.Add(value, big.NewInt(1))
	}
	return value
}

// operation parses and computes one operation at the given nesting depth.
func (p *programParser) operation(depth int) (*big.Int, error) {
	if depth > maxNesting {
		return nil, errorf(p.at, "more than %d nested parentheses", maxNesting)
	}
	if p.accept("x=") {
		return p.loop(depth)
	}
	a, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	at := p.at
	if p.accept("if") {
		return p.conditional(a, at, depth)
	}
	compute, ok := p.arithmetic()
	if !ok {
		return nil, p.unexpected(`"+", "-", "*" or "if"`)
	}
	b, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	value := p.done(p.text[at:at+1], at, compute(new(big.Int), a, b))
	return value, bounded(value, at)
}

// loop computes x=Afor[k]x+=B after its "x=": A + kB.
func (p *programParser) loop(depth int) (*big.Int, error) {
	a, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	at := p.at
	if err := p.expect("for["); err != nil {
		return nil, err
	}
	if p.at == len(p.text) || p.text[p.at] < '1' || p.text[p.at] > '9' {
		return nil, p.unexpected("one of 1..9")
	}
	k := big.NewInt(int64(p.text[p.at] - '0'))
	p.at++
	if err := p.expect("]x+="); err != nil {
		return nil, err
	}
	b, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	value := p.done(loop, at, k.Add(a, k.Mul(k, b)))
	return value, bounded(value, at)
}

// conditional computes AifB<CelseD after its "if".
func (p *programParser) conditional(a *big.Int, at, depth int) (*big.Int, error) {
	b, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	holds, err := p.comparator()
	if err != nil {
		return nil, err
	}
	c, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if err := p.expect("else"); err != nil {
		return nil, err
	}
	d, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if holds(b, c) {
		return p.done(choose, at, a), nil
	}
	return p.done(choose, at, d), nil
}

// operand reads a number or an operation in parentheses.
func (p *programParser) operand(depth int) (*big.Int, error) {
	start := p.at
	if p.accept("(") {
		value, err := p.operation(depth + 1)
		if err != nil {
			return nil, err
		}
		return value, p.expect(")")
	}
	numeral, err := p.literal()
	if err != nil {
		return nil, err
	}
	if p.of.Digits == 0 {
		p.of.Digits = len(numeral)
	}
	if len(numeral) != p.of.Digits {
		return nil, errorf(start, "a number of %d digits after one of %d: all numbers must have the same length, as the answer is modulo 10^(digits+1)", len(numeral), p.of.Digits)
	}
	n, _ := new(big.Int).SetString(numeral, 10) // the numeral consists of digits, so there is no error
	return n, nil
}
