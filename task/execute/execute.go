// Package execute contains the tasks of section 3.5 of the paper, learning to execute (Zaremba and Sutskever, 2014): a model reads a
// program character by character and writes its result.
//
// [Memory] and [Program] are the six tasks of tables 5 and 6, in the one-line grammar of DeepMind's Sonnet (version 1,
// examples/learn_to_execute), the only public generator with tasks of these names and sizes. [Script] is the grammar of Zaremba and
// Sutskever, lines of Python, of which the paper's appendix prints an example. The paper's own data are not public.
//
// A level consists of a length, the number of digits of each number, and a nesting, the number of operations. In training both are
// drawn uniformly from 1..maximum for every sample (the "mix" strategy of the literature, without a curriculum). [task.Selection]
// selects held-out samples:
//
//	Length N  every number has N digits, with maximum nesting (the paper's 55, or 5 and 2)
//	Mix N     lengths 1..N and nestings 1..maximum mixed
//	neither   the mix of training
//
// Length and Mix thus count the digits of numbers, not the characters of a source; for [Memory] both are the same.
//
// A hash of the source assigns it to training, validation or testing. If a kind of Program or Memory has fewer than 10,000 sources,
// all splits share them; evaluations report how many of their examples are affected.
//
// [EvaluateProgram] and [EvaluateScript] compute programs from their text, independently of the generators.
package execute

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

const (
	digits         = "0123456789"
	maxLength      = 1000   // digits of a number
	maxNesting     = 100    // operations of a Program
	defaultHeldOut = 10_000 // samples; Santoro et al. (2018) test on 12,800
)

// transduction holds what the definitions of this package have in common.
type transduction struct{}

// Kind returns task.Transduction.
func (transduction) Kind() task.Kind { return task.Transduction }

// characters returns the vocabulary of all characters of a text, the same on both sides, so that they can share embeddings.
func characters(text string) task.Vocabularies {
	var tokens []string
	for i := range len(text) {
		if strings.IndexByte(text[:i], text[i]) < 0 {
			tokens = append(tokens, text[i:i+1])
		}
	}
	v, err := vocab.New(tokens)
	if err != nil {
		panic(err) // cannot happen: the characters differ
	}
	return task.Vocabularies{Tokenizer: vocab.Characters, Source: v, Target: v}
}

// checkRange returns an error unless the value of a field is in 1..limit.
func checkRange(field string, value, limit int) error {
	if value < 1 || value > limit {
		return fmt.Errorf("%s is %d: it must be 1..%d", field, value, limit)
	}
	return nil
}

// oneOf returns an error unless a field's value is one of the names; it suggests the nearest.
func oneOf(field, value string, names ...string) error {
	if slices.Contains(names, value) {
		return nil
	}
	if near, ok := strictjson.Nearest(value, names); ok {
		return fmt.Errorf("%s %q is not known: did you mean %q?", field, value, near)
	}
	return fmt.Errorf("%s %q is not known; there are %s", field, value, strings.Join(names, ", "))
}

// backwards reverses a text.
func backwards(text string) string {
	var b strings.Builder
	for i := len(text) - 1; i >= 0; i-- {
		b.WriteByte(text[i])
	}
	return b.String()
}
