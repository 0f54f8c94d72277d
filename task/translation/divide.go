package translation

import (
	"errors"
	"slices"

	"universal-transformer/internal/tabular"
)

// This file divides pairs and finds those that are in several parts.

// hash is a digest of the source, by which a pair is held out or not.
func (p pair) hash() uint64 { return tabular.Hash(p.source) }

// errEnough ends the reading of pairs.
var errEnough = errors.New("the consumer needs no more")

// withShare returns the translation with the share that MinHeldOut needs, unless HeldOut is set. It reads no more pairs than that takes. If
// they cannot be read, who reads them next has the error.
func (c Translation) withShare(f files) Translation {
	if c.HeldOut > 0 || c.MinHeldOut == 0 || len(c.Validation) > 0 && len(c.Test) > 0 {
		return c
	}
	pairs := 0
	for _, corpus := range c.Training {
		err := f.pairs(corpus, &report{}, func(pair) error {
			if pairs++; float64(pairs)*defaultHeldOut >= float64(c.MinHeldOut) {
				return errEnough
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	c.HeldOut = max(defaultHeldOut, min(maxHeldOut, float64(c.MinHeldOut)/float64(max(pairs, 1))))
	return c
}

// repeated counts the sources, given by their hashes, that are also in the training part; none if that cannot be read. It holds no pair in
// memory.
func (c Translation) repeated(sources []uint64) (n int) {
	if len(c.Training) == 0 {
		return 0
	}
	f, err := c.open(c.Training...)
	if err != nil {
		return 0
	}
	c = c.withShare(f).resolved()
	waiting := tabular.NewTally(slices.Values(sources), func(hash uint64) uint64 { return hash })
	for _, corpus := range c.Training {
		err := f.pairs(corpus, &report{}, func(p pair) error {
			if c.partOf(p) == forTraining {
				n += waiting.Take(p.hash())
			}
			return nil
		})
		if err != nil {
			return 0
		}
	}
	return n
}
