package agreement

import (
	"math/rand/v2"
	"strings"
)

const (
	maxPhrases    = 4 // maximum number of inserted phrases
	longestPhrase = 6 // maximum number of words of a phrase
)

// prepositions begin the inserted phrases.
var prepositions = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields("about against among at behind between by during for from in near of on over to under with within") {
		set[w] = true
	}
	return set
}()

// phrases lists the ends of preambles that begin with a preposition and have at least two words, with repetitions.
func phrases(rows []row) (list [][]string) {
	for _, r := range rows {
		words := r.words()[:r.verb]
		for at := max(1, len(words)-longestPhrase); at < len(words)-1; at++ {
			if prepositions[words[at]] {
				list = append(list, words[at:])
			}
		}
	}
	return list
}

// extended returns r with one to four phrases of other rows inserted between its preamble and its verb, as long as the preamble has
// at most longest words. The number of the verb does not change, and there may be more attractors than in any row:
//
//	the keys + to the cabinet + of the house -> VBP
func extended(r row, with [][]string, longest int, rng *rand.Rand) row {
	words := r.words()
	preamble, after := words[:r.verb:r.verb], words[r.verb:]
	for range 1 + rng.IntN(maxPhrases) {
		phrase := with[rng.IntN(len(with))]
		if len(preamble)+len(phrase) > longest {
			break
		}
		preamble = append(preamble, phrase...)
	}
	r.text = strings.Join(append(preamble, after...), " ")
	r.verb = len(preamble)
	r.attractors = unlabelled
	return r
}
