package subword

import (
	"strings"
	"sync"

	"universal-transformer/internal/vocab"
)

const (
	cachedWords = 1 << 15 // of each generation
	longestWord = 64      // bytes of a word that is kept
)

// A cache keeps the ids of the words that were used lately, in two generations: when the young one is full it becomes
// the old one, whose words are gone unless they were used since. The zero value is empty.
type cache struct {
	mu         sync.RWMutex
	young, old map[string][]vocab.ID
}

// get gives the ids of a word, which nobody may change.
func (c *cache) get(word string) ([]vocab.ID, bool) {
	if len(word) > longestWord {
		return nil, false
	}
	c.mu.RLock()
	ids, young := c.young[word]
	old := false
	if !young {
		ids, old = c.old[word]
	}
	c.mu.RUnlock()
	if old {
		c.put(word, ids)
	}
	return ids, young || old
}

func (c *cache) put(word string, ids []vocab.ID) {
	if len(word) > longestWord {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= cachedWords {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[string][]vocab.ID{}
	}
	c.young[strings.Clone(word)] = ids // a word alone, not the text it stands in
}
