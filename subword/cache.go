package subword

import (
	"strings"
	"sync"

	"universal-transformer/internal/vocab"
)

const (
	cachedWords = 1 << 15 // per generation
	longestWord = 64      // maximum length in bytes of a word in the cache
)

// A cache keeps the ids of recently used words, in two generations. When the young one is full it becomes the old one, whose words
// are dropped unless they have been used since. The zero value is empty.
type cache struct {
	mu         sync.RWMutex
	young, old map[string][]vocab.ID
}

// get returns the ids of a word. The caller must not change them.
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
	c.young[strings.Clone(word)] = ids // do not keep the whole text in memory
}
