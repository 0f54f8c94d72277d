package execute

import (
	"math/big"
	"strings"
)

// EvaluateScript computes a [Script] from its text:
//
//	script     = { statement end } "print(" expression ")"
//	statement  = variable "=" expression [ ";" ]
//	           | "for x in range(" number "):" [ end ] variable ("+=" | "-=") expression
//	expression = number | variable | "(" expression ("+" | "-" | "*") expression ")"
//	           | "(" expression " if " expression ("<" | ">") expression " else " expression ")"
//	end        = "#" or a new line, and spaces
//
// Variables are a..j. The increment of a loop must not contain the loop's variable. An operation that does nothing, such as equality,
// leaves no trace in the text and is not in the summary. Other text is a [*SyntaxError].
func EvaluateScript(text string) (answer string, of Summary, err error) {
	if len(text) > maxText {
		return "", of, errorf(maxText, "a program has at most %d characters", maxText)
	}
	p := scriptParser{scanner: scanner{text: text}, of: &of}
	for !p.accept("print(") {
		if err := p.statement(); err != nil {
			return "", Summary{}, err
		}
		if !p.line() {
			return "", Summary{}, p.unexpected(`"#"`)
		}
	}
	value, err := p.expression(1)
	if err == nil {
		err = p.expect(")")
	}
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return "", Summary{}, err
	}
	return value.String(), of, nil
}

type scriptParser struct {
	scanner
	of       *Summary
	values   [len(variables)]*big.Int // nil: not assigned
	changing int                      // the variable that the current loop changes, counted from 1; 0: none
}

// line reads the end of a line.
func (p *scriptParser) line() bool {
	if !p.accept("#") && !p.accept("\n") {
		return false
	}
	for p.accept(" ") {
	}
	return true
}

// variable parses the name of a variable and returns its number.
func (p *scriptParser) variable() (int, error) {
	if p.at < len(p.text) {
		if v := strings.IndexByte(variables, p.text[p.at]); v >= 0 {
			p.at++
			return v, nil
		}
	}
	return 0, p.unexpected("a variable of a..j")
}

func (p *scriptParser) statement() error {
	start := p.at
	if p.accept("for ") {
		return p.loop(start)
	}
	v, err := p.variable()
	if err != nil {
		p.at = start
		return p.unexpected(`a variable of a..j, "for x in range(" or "print("`)
	}
	if err := p.expect("="); err != nil {
		return err
	}
	value, err := p.expression(1)
	p.values[v] = value
	p.accept(";")
	return err
}

// loop computes for x in range(c):v+=b after its "for ": v + cb.
func (p *scriptParser) loop(start int) error {
	if err := p.expect("x in range("); err != nil {
		return err
	}
	numeral, err := p.literal()
	if err != nil {
		return err
	}
	if err := p.expect("):"); err != nil {
		return err
	}
	p.line()
	v, err := p.assigned()
	if err != nil {
		return err
	}
	compute := (*big.Int).Add
	if p.accept(subtract) {
		compute = (*big.Int).Sub
	} else if !p.accept(add) {
		return p.unexpected(`"+=" or "-="`)
	}
	if err := p.expect("="); err != nil {
		return err
	}
	p.changing = v + 1
	amount, err := p.expression(1)
	if err != nil {
		return err
	}
	p.changing = 0
	p.of.saw(loop, start+1)
	times, _ := new(big.Int).SetString(numeral, 10) // the numeral consists of digits, so there is no error
	p.values[v] = compute(new(big.Int), p.values[v], times.Mul(times, amount))
	return bounded(p.values[v], start)
}

// assigned parses a variable that has a value.
func (p *scriptParser) assigned() (int, error) {
	v, err := p.variable()
	switch {
	case err != nil:
		return 0, err
	case p.values[v] == nil:
		return 0, errorf(p.at-1, "%c has no value yet", variables[v])
	case v+1 == p.changing:
		return 0, errorf(p.at-1, "%c is the variable that the loop changes", variables[v])
	}
	return v, nil
}

// expression parses and computes an expression at the given depth of parentheses.
func (p *scriptParser) expression(depth int) (*big.Int, error) {
	if depth > maxNesting {
		return nil, errorf(p.at, "more than %d nested parentheses", maxNesting)
	}
	switch {
	case p.accept("("):
		value, err := p.inner(depth)
		if err != nil {
			return nil, err
		}
		return value, p.expect(")")
	case p.at < len(p.text) && strings.IndexByte(variables, p.text[p.at]) >= 0:
		v, err := p.assigned()
		if err != nil {
			return nil, err
		}
		return p.values[v], nil
	}
	numeral, err := p.literal()
	if err != nil {
		return nil, err
	}
	if p.of.Digits == 0 {
		p.of.Digits = len(numeral)
	}
	n, _ := new(big.Int).SetString(numeral, 10) // the numeral consists of digits, so there is no error
	return n, nil
}

// inner parses the inside of parentheses.
func (p *scriptParser) inner(depth int) (*big.Int, error) {
	a, err := p.expression(depth + 1)
	if err != nil {
		return nil, err
	}
	at := p.at
	if p.accept(" if ") {
		return p.conditional(a, at, depth)
	}
	compute, ok := p.arithmetic()
	if !ok {
		return nil, p.unexpected(`"+", "-", "*" or " if "`)
	}
	b, err := p.expression(depth + 1)
	if err != nil {
		return nil, err
	}
	p.of.saw(p.text[at:at+1], at+1)
	value := compute(new(big.Int), a, b)
	return value, bounded(value, at)
}

// conditional computes (a if b<c else d) after its " if ".
func (p *scriptParser) conditional(a *big.Int, at, depth int) (*big.Int, error) {
	b, err := p.expression(depth + 1)
	if err != nil {
		return nil, err
	}
	holds, err := p.comparator()
	if err != nil {
		return nil, err
	}
	c, err := p.expression(depth + 1)
	if err != nil {
		return nil, err
	}
	if err := p.expect(" else "); err != nil {
		return nil, err
	}
	d, err := p.expression(depth + 1)
	if err != nil {
		return nil, err
	}
	p.of.saw(choose, at+1)
	if holds(b, c) {
		return a, nil
	}
	return d, nil
}
