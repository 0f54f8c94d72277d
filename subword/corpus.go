package subword

import (
	"maps"
	"slices"

	"universal-transformer/internal/vocab"
)

// A corpus is the distinct words of a text as ids, with the counts of the pairs in them.
//
// A new id comes into pairs that were never there before, so that a pair enters the queue once, with all its words. And a piece
// is made of one pair only: its text is cut in the same way wherever no piece reaches over its ends, and where one does, it
// stays so.
type corpus struct {
	words  [][]vocab.ID
	counts []int64 // of the words
	pairs  map[pair]int64
	queue  queue[entry]
}

// An entry is a pair in the queue with the words that it came into. Its count may be out of date.
type entry struct {
	pair
	count int64
	words []int32
}

// The most frequent pair first; of equals the one with the smallest ids.
func (e entry) before(f entry) bool {
	switch {
	case e.count != f.count:
		return e.count > f.count
	case e.left != f.left:
		return e.left < f.left
	}
	return e.right < f.right
}

func newCorpus(counts map[string]int64, bytes [256]vocab.ID) *corpus {
	c := &corpus{pairs: map[pair]int64{}, queue: queue[entry]{before: entry.before}}
	where := map[pair][]int32{}
	for i, word := range slices.Sorted(maps.Keys(counts)) {
		ids := make([]vocab.ID, len(word))
		for at := range len(word) {
			ids[at] = bytes[word[at]]
		}
		c.words, c.counts = append(c.words, ids), append(c.counts, counts[word])
		for at := range len(ids) - 1 {
			p := pair{ids[at], ids[at+1]}
			c.pairs[p] += counts[word]
			note(where, p, int32(i))
		}
	}
	c.enqueue(where)
	return c
}

// note adds a word to those that have a pair. Words come in rising order.
func note(where map[pair][]int32, p pair, word int32) {
	if words := where[p]; len(words) == 0 || words[len(words)-1] != word {
		where[p] = append(words, word)
	}
}

func (c *corpus) enqueue(where map[pair][]int32) {
	for p, words := range where {
		if count := c.pairs[p]; count > 0 {
			c.queue.push(entry{p, count, words})
		}
	}
}

// nextPair takes the next pair from the queue, with the words to merge it in. It is false if none occurs often enough.
func (c *corpus) nextPair(least int64) (pair, []int32, bool) {
	for e, ok := c.queue.pop(); ok; e, ok = c.queue.pop() {
		if count := c.pairs[e.pair]; e.count != count {
			e.count = count
			c.queue.push(e)
			continue
		}
		return e.pair, e.words, e.count >= least
	}
	return pair{}, nil, false
}

// merge makes one id of a pair in words and counts the pairs that this makes and unmakes. What is left of
// the count of the merged pair itself means nothing.
func (c *corpus) merge(p pair, id vocab.ID, words []int32) {
	where := map[pair][]int32{}
	for _, word := range words {
		c.words[word] = mergePair(c.words[word], p, id, func(changed pair, by int64) {
			c.pairs[changed] += by * c.counts[word]
			if by > 0 {
				note(where, changed, word)
			}
		})
	}
	c.enqueue(where)
}

// mergePair replaces a pair in a word by one id, from left to right, in place, and tells which adjacent pairs come and go.
func mergePair(word []vocab.ID, p pair, id vocab.ID, change func(changed pair, by int64)) []vocab.ID {
	merged := word[:0]
	for i := 0; i < len(word); i++ {
		if word[i] != p.left || i+1 == len(word) || word[i+1] != p.right {
			merged = append(merged, word[i])
			continue
		}
		if len(merged) > 0 {
			previous := merged[len(merged)-1]
			change(pair{previous, p.left}, -1)
			change(pair{previous, id}, 1)
		}
		i++
		if i+1 < len(word) {
			change(pair{p.right, word[i+1]}, -1)
			change(pair{id, word[i+1]}, 1)
		}
		merged = append(merged, id)
	}
	return merged
}
