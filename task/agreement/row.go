package agreement

import (
	"fmt"
	"strings"

	"universal-transformer/internal/seed"
)

const (
	maxAttractors = 5  // rows with more are not grouped
	unlabelled    = -1 // attractors of a row in which they are unknown, or in which some nouns between subject and verb are not attractors
)

// A row is a verb in its sentence.
type row struct {
	text       string // tokens separated by spaces, including the verb or its tag
	verb       int    // index of the verb in the tokens, from 0
	other      string // form of the verb for a subject of the other number
	plural     bool
	attractors int
	between    int // nouns between subject and verb, if attractors is unlabelled and the file has their number
	differ     int // those of the other number

	lexicon *lexicon // how frequent the forms are; nil unless they are ranked with it
}

// Text returns the words before the verb, and the verb or its tag. A sentence without a pair has no source.
func (r row) Text() (source, target string) {
	if r.other == "" {
		return "", r.text
	}
	return r.preamble(), r.words()[r.verb]
}

// tagOfVerb returns the tag of a verb.
func tagOfVerb(isPlural bool) string {
	if isPlural {
		return plural
	}
	return singular
}

// words returns the tokens.
func (r row) words() []string { return strings.Split(r.text, " ") }

// preamble returns the words before the verb.
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

// preambles returns the set of preambles.
func preambles(rows []row) map[string]bool {
	set := make(map[string]bool, len(rows))
	for _, r := range rows {
		set[r.preamble()] = true
	}
	return set
}

// A division holds the rows of training, validation and test.
type division struct {
	training, validation, test []row
	known                      []string // words of the vocabulary; nil: those that are frequent enough in training
	notes                      []string
}

// addTest adds rows to the test, except those whose preamble occurs in another part, also as others spell it: others[k][i] is another spelling of
// rows[i].
func (d *division) addTest(rows []row, others ...[]row) {
	known, shared := preambles(append(d.training[:len(d.training):len(d.training)], d.validation...)), 0
	for i, r := range rows {
		found := known[r.preamble()]
		for _, spelled := range others {
			found = found || known[spelled[i].preamble()]
		}
		if found {
			shared++
			continue
		}
		d.test = append(d.test, r)
	}
	if shared > 0 {
		d.notes = append(d.notes, fmt.Sprintf("skipped %d test rows: the words before their verb may occur in training or validation", shared))
	}
}
