package agreement

import (
	"fmt"
	"strings"

	"universal-transformer/internal/seed"
)

const (
	maxAttractors = 5  // that are counted apart
	unlabelled    = -1 // attractors of a row of which they are not known, or whose nouns between are not all attractors
)

// A row is a verb in its sentence.
type row struct {
	text       string // tokens with a space between, the verb or its tag among them
	verb       int    // its place, from 0
	other      string // what would stand there if the subject had the other number
	plural     bool
	attractors int
}

// words are the tokens.
func (r row) words() []string { return strings.Split(r.text, " ") }

// preamble is the words before the verb.
func (r row) preamble() string { return strings.Join(r.words()[:r.verb], " ") }

// bucket returns one of n buckets, the same for all rows with the same preamble.
func (r row) bucket(n uint64) uint64 { return bucket(r.preamble(), n) }

// bucket returns a number below n that depends only on the text.
func bucket(text string, n uint64) uint64 { return seed.Derive(0, "agreement/split/"+text, 0) % n }

// lastWord reports whether the word before the verb looks like a plural noun: a tag of one, or a word that ends in a single s.
func (r row) lastWord() bool {
	if r.verb == 0 {
		return false
	}
	w := r.words()[r.verb-1]
	return w == "NNS" || w == "NNPS" || strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss")
}

// preambles is the set of them.
func preambles(rows []row) map[string]bool {
	set := make(map[string]bool, len(rows))
	for _, r := range rows {
		set[r.preamble()] = true
	}
	return set
}

// A division is the rows used for training and those held out.
type division struct {
	training, validation, test []row
	notes                      []string
}

// addTest adds rows to the test, except those whose preamble occurs in another part.
func (d *division) addTest(rows []row) {
	known, shared := preambles(append(d.training[:len(d.training):len(d.training)], d.validation...)), 0
	for _, r := range rows {
		if known[r.preamble()] {
			shared++
			continue
		}
		d.test = append(d.test, r)
	}
	if shared > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%d rows are left out of the test: the words before their verb may be trained on or validate", shared))
	}
}
