package subword

import "universal-transformer/internal/vocab"

// A pair is two adjacent ids.
type pair struct{ left, right vocab.ID }

// A merge replaces a pair by one id. Merges with lower rank are done first.
type merge struct {
	rank int32
	id   vocab.ID
}

// A symbol is an id of a word that is being merged. The remaining symbols form a linked list, which ends with -1.
type symbol struct {
	id             vocab.ID
	previous, next int
}

// A candidate is a possible merge. It becomes invalid when another merge uses one of its symbols.
type candidate struct {
	pair
	merge
	at int // index of the left symbol
}

// before orders candidates by rank, and equal ranks from left to right.
func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// mergeWord merges the ids of a word in place until no pair can be merged, and returns the remaining ids. If drop is not nil, every
// possible merge is skipped before each merge if drop returns true, and the word is finished when all are skipped.
func mergeWord(ids []vocab.ID, merges map[pair]merge, drop func() bool) []vocab.ID {
	if len(ids) < 2 {
		return ids
	}
	symbols := make([]symbol, len(ids))
	for i, id := range ids {
		symbols[i] = symbol{id: id, previous: i - 1, next: i + 1}
	}
	symbols[len(ids)-1].next = -1
	candidates := queue[candidate]{before: candidate.before}
	consider := func(at int) {
		if at < 0 || symbols[at].next < 0 {
			return
		}
		p := pair{symbols[at].id, symbols[symbols[at].next].id}
		if m, ok := merges[p]; ok {
			candidates.push(candidate{pair: p, merge: m, at: at})
		}
	}
	for at := range symbols {
		consider(at)
	}
	var dropped []candidate // skipped since the last merge
	for c, ok := candidates.pop(); ok; c, ok = candidates.pop() {
		left := &symbols[c.at]
		if left.id != c.left || left.next < 0 || symbols[left.next].id != c.right {
			continue // another merge was done first
		}
		if drop != nil && drop() {
			dropped = append(dropped, c)
			continue
		}
		for _, d := range dropped {
			candidates.push(d)
		}
		dropped = dropped[:0]
		gone := &symbols[left.next]
		left.id, left.next, gone.id = c.id, gone.next, -1
		if left.next >= 0 {
			symbols[left.next].previous = c.at
		}
		consider(left.previous)
		consider(c.at)
	}
	return remaining(symbols, ids[:0])
}

// remaining appends the ids in the list of symbols to ids.
func remaining(symbols []symbol, ids []vocab.ID) []vocab.ID {
	for at := 0; at >= 0; at = symbols[at].next {
		ids = append(ids, symbols[at].id)
	}
	return ids
}
