package viewer

import (
	"fmt"
	"slices"
	"strings"
)

// A mark is one token of the answer, and whether it differs from the reference.
type mark struct {
	Token string
	Wrong bool
}

// Lead returns the blank before a token of running text.
func (m mark) Lead() string { return m.Token[:len(m.Token)-len(m.Core())] }

// Core returns the token without that blank.
func (m mark) Core() string {
	if m.Token == " " {
		return m.Token
	}
	return strings.TrimPrefix(m.Token, " ")
}

// marks compares the output with the reference position by position. Without a reference no token is marked as wrong.
func (t *Trace) marks() []mark {
	out := make([]mark, len(t.Output))
	for i, s := range running(t.Output) {
		wrong := len(t.Reference) > 0 && (i >= len(t.Reference) || t.Reference[i] != t.Output[i])
		out[i] = mark{s, wrong}
	}
	return out
}

// verdict describes how the output compares with the reference. It returns "" if there is no reference.
func (t *Trace) verdict() string {
	if len(t.Reference) == 0 {
		return ""
	}
	if slices.Equal(t.Output, t.Reference) {
		return "That is the right answer."
	}
	if len(t.Output) == 1 && len(t.Reference) == 1 {
		return "That is wrong."
	}
	right := 0
	for i := range min(len(t.Output), len(t.Reference)) {
		if t.Output[i] == t.Reference[i] {
			right++
		}
	}
	sentence := fmt.Sprintf("%d of %s right", right, count(len(t.Reference), "token is", "tokens are"))
	switch extra := len(t.Output) - len(t.Reference); {
	case extra > 0:
		sentence += fmt.Sprintf(", %s too many", count(extra, "token", "tokens"))
	case extra < 0:
		sentence += fmt.Sprintf(", %s missing", count(-extra, "token is", "tokens are"))
	}
	return sentence + "."
}

// summary describes how many steps the positions of a stack ran.
func (s *Stack) summary() string {
	least, most := slices.Min(s.Updates), slices.Max(s.Updates)
	positions, stopped := count(len(s.Tokens), "position", "positions"), "halted"
	if !s.adaptive() { // a rule ended them, or the depth is that of each example
		stopped = "ended"
	}
	switch {
	case !s.adaptive() && least == most:
		return fmt.Sprintf("%s, %s each: the depth is fixed.", positions, steps(most))
	case least == most && s.limited() > 0:
		return fmt.Sprintf("%s, each of which ran to the limit of %s.", positions, steps(most))
	case least == most:
		return fmt.Sprintf("%s, each of which halted after %s.", positions, steps(most))
	case s.limited() > 0:
		return fmt.Sprintf("%s, which %s after %s to %s, %.1f on average; %d reached the limit.", positions, stopped, number(least), steps(most), s.mean(), s.limited())
	default:
		return fmt.Sprintf("%s, which %s after %s to %s, %.1f on average.", positions, stopped, number(least), steps(most), s.mean())
	}
}

func steps(n float64) string {
	if n == 1 {
		return "1 step"
	}
	return number(n) + " steps"
}

// limited counts the positions that ran as many steps as the limit allows.
func (s *Stack) limited() (n int) {
	for _, updates := range s.Updates {
		if s.Limit > 0 && updates >= float64(s.Limit) {
			n++
		}
	}
	return n
}

// number formats a step count: an integer, or one decimal for means.
func number(n float64) string {
	if n == float64(int64(n)) {
		return fmt.Sprintf("%d", int64(n))
	}
	return fmt.Sprintf("%.1f", n)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
