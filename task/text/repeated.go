package text

import (
	"fmt"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// This file finds texts to evaluate on that are also in the training part.

// repeatedNote is the remark that lines, or segments, are also in the training part; none if none are, or if the training part cannot be
// read. Of a continuous text, segments of the full length are looked for, and the only one, wherever they begin.
func (c Text) repeatedNote(v task.Vocabularies, examples []task.Example) []string {
	training, err := c.trained(v)
	if err != nil {
		return nil
	}
	n, what := 0, "segments"
	if c.Lines {
		n, what = repeatedLines(examples, training), "lines"
	} else if len(training) == 1 {
		n = repeatedSegments(examples, training[0])
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d %s are also in the training part", n, len(examples), what)}
}

// trained returns the tokens of the training part, a list of each line, or one of a continuous text.
func (c Text) trained(v task.Vocabularies) (training [][]vocab.ID, err error) {
	content, _, err := read(c.Path)
	if err != nil {
		return nil, err
	}
	lines, cut := c.lines(content), v.Split
	if v.Subwords != nil { // held out before it is split
		if c.Lines {
			lines, _, _ = divide(lines, c.HeldOut, line.content)
		} else {
			lines, _, _ = c.divideBytes(lines[0].text)
		}
	}
	parts, _, err := c.split(lines, cut)
	switch {
	case err != nil:
		return nil, err
	case v.Subwords == nil && c.Lines:
		parts, _, _ = divide(parts, c.HeldOut, joined)
	case v.Subwords == nil:
		parts[0] = parts[0][:len(parts[0])-int(c.HeldOut*float64(len(parts[0])))]
	}
	for _, part := range parts {
		training = append(training, encode(v.Target, part))
	}
	return training, nil
}

// repeatedLines counts the examples that are a line of the training part.
func repeatedLines(examples []task.Example, training [][]vocab.ID) (n int) {
	trained := map[uint64]bool{}
	for _, line := range training {
		trained[hash(line)] = true
	}
	for _, e := range examples {
		if trained[hash(task.WithoutEnd(e.Target))] {
			n++
		}
	}
	return n
}

// repeatedSegments counts the examples of the greatest length that occur in the training text. A window of that length moves over the text,
// and its hash with it.
func repeatedSegments(examples []task.Example, training []vocab.ID) (n int) {
	length := 0
	for _, e := range examples {
		length = max(length, len(e.Target))
	}
	waiting := map[uint64]int{}
	for _, e := range examples {
		if len(e.Target) == length {
			waiting[hash(e.Target)]++
		}
	}
	last := uint64(1) // the weight of a token that leaves the window
	for range length {
		last *= factor
	}
	window := uint64(0)
	for i, id := range training {
		window = window*factor + weight(id)
		if i >= length {
			window -= last * weight(training[i-length])
		}
		if i >= length-1 {
			n += waiting[window]
			delete(waiting, window)
		}
	}
	return n
}

// factor is the base of hashes; an odd number with random bits (the golden ratio).
const factor = 0x9e3779b97f4a7c15

// hash returns the hash of tokens: a polynomial in factor.
func hash(ids []vocab.ID) (h uint64) {
	for _, id := range ids {
		h = h*factor + weight(id)
	}
	return h
}

// weight spreads an id over 64 bits, with the mixing of SplitMix64.
func weight(id vocab.ID) uint64 {
	x := uint64(id) + factor
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
