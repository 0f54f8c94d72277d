package agreement

import (
	"math"
	"strings"
)

// A lexicon holds how often words occur before the verbs of the training rows, and how many of these rows have each tag.
type lexicon struct {
	words, tags map[string]int
	known       map[string]bool // words that are not rare
}

// newLexicon counts the words of the training rows. Words that occur fewer than minCount times are rare, except those that are known from elsewhere.
func newLexicon(training []row, minCount int, known []string) *lexicon {
	l := &lexicon{words: map[string]int{}, tags: map[string]int{}, known: map[string]bool{}}
	for _, r := range training {
		l.tags[tagOfVerb(r.plural)]++
		for _, w := range r.words()[:r.verb] {
			l.words[w]++
		}
	}
	for w, n := range l.words {
		l.known[w] = n >= minCount
	}
	for _, w := range known {
		l.known[w] = true
	}
	return l
}

// logFrequency returns the logarithm of a form's relative frequency among the verbs of a number, up to a constant. One is added to each
// count, so that forms that do not occur have a frequency.
func (l *lexicon) logFrequency(form string, isPlural bool) float64 {
	return math.Log(float64(l.words[form]+1)) - math.Log(float64(max(l.tags[tagOfVerb(isPlural)], 1)))
}

// rows returns rows whose forms the lexicon ranks, with tags in place of rare words before the verb.
func (l *lexicon) rows(rows []row) []row {
	ranked := make([]row, len(rows))
	for i, r := range rows {
		words := r.words()
		for at, w := range words[:r.verb] {
			if !l.known[w] {
				words[at] = tagOf(w)
			}
		}
		r.text, r.lexicon = strings.Join(words, " "), l
		ranked[i] = r
	}
	return ranked
}

// endings are the tags of the Penn Treebank that the endings of rare words suggest; the first that fits counts.
var endings = []struct{ end, tag string }{
	{"ss", "NN"}, {"us", "NN"}, {"is", "NN"}, {"s", "NNS"}, {"ing", "VBG"}, {"ed", "VBN"}, {"ly", "RB"},
	{"able", "JJ"}, {"ible", "JJ"}, {"al", "JJ"}, {"ic", "JJ"}, {"ive", "JJ"}, {"ous", "JJ"}, {"ful", "JJ"}, {"less", "JJ"}, {"ish", "JJ"},
}

// tagOf returns the tag of a rare word by its form. A tag stays what it is.
func tagOf(word string) string {
	switch {
	case word == strings.ToUpper(word) && word != strings.ToLower(word):
		return word
	case strings.ContainsAny(word, "0123456789"):
		return "CD"
	case strings.Contains(word, "-"):
		return "JJ"
	}
	for _, e := range endings {
		if strings.HasSuffix(word, e.end) && len(word) > len(e.end)+1 {
			return e.tag
		}
	}
	return "NN"
}
