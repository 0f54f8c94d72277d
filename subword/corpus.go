package subword

import (
	"maps"
	"slices"

	"universal-transformer/internal/vocab"
)

// A corpus is the distinct words of a text as ids, with the counts of the pairs in them.
//
// A new id only occurs in new pairs, so a pair enters the queue once, with all its words. A piece is the result of one pair only, so
// its text is split in the same way wherever no piece crosses its ends, and that does not change later.
type corpus struct {
	words  [][]vocab.ID
	counts []int64 // number of occurrences of each word
	pairs  map[pair]int64
	queue  queue[entry]
}

// An entry is a pair in the queue with the words that contain it. Its count may be out of date.
type entry struct {
	pair
	count int64
	words []int32
}

// before orders entries by decreasing count, and equal counts by increasing ids.
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

// note adds a word to the words of a pair. Words come in increasing order.
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

// nextPair takes the next pair from the queue, with the words that contain it. It returns false if no pair occurs at least least
// times.
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

// merge replaces a pair by one id in words, and updates the counts of the pairs that appear and disappear. The remaining count of the
// merged pair itself has no meaning.
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

// mergePair replaces a pair in a word by one id, from left to right, in place. It calls change for adjacent pairs that appear and
// disappear.
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
