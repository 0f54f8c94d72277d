package babi

import (
	"slices"
	"strings"
)

// phrases are classes of words or phrases that may replace each other.
type phrases struct {
	classes  [][]string
	class    map[string]int // index in classes
	maxWords map[string]int // of the phrases that begin with a word
}

func phrasesOf(classes [][]string) phrases {
	p := phrases{classes: classes, class: map[string]int{}, maxWords: map[string]int{}}
	for i, class := range classes {
		for _, phrase := range class {
			p.class[phrase] = i
			first, _, _ := strings.Cut(phrase, " ")
			p.maxWords[first] = max(p.maxWords[first], strings.Count(phrase, " ")+1)
		}
	}
	return p
}

// usedIn returns the phrases that occur in training questions. So a story whose phrases are replaced has no word that the training stories do
// not have.
func (p phrases) usedIn(training []Question) phrases {
	used, seen := map[string]bool{}, map[string]bool{}
	for _, q := range training {
		for _, sentence := range append(slices.Clip(q.Facts), q.Text, sentenceOf(q.Answer)) {
			if !seen[sentence] {
				seen[sentence] = true
				p.replace(sentence, func(phrase string) string { used[phrase] = true; return phrase })
			}
		}
	}
	var classes [][]string
	for _, class := range p.classes {
		classes = append(classes, slices.DeleteFunc(slices.Clone(class), func(phrase string) bool { return !used[phrase] }))
	}
	return phrasesOf(classes)
}

// sentenceOf returns the members of an answer as the words of a sentence.
func sentenceOf(answer string) string { return strings.ReplaceAll(strings.ToLower(answer), ",", " ") }

// replace replaces every phrase in a sentence. Of two phrases that begin at the same word, it takes the longer one.
func (p phrases) replace(sentence string, other func(phrase string) string) string {
	words := strings.Split(sentence, " ")
	replaced := make([]string, 0, len(words))
	for len(words) > 0 {
		phrase, n := p.first(words)
		if n == 0 {
			phrase, n = words[0], 1
		} else {
			phrase = other(phrase)
		}
		replaced, words = append(replaced, phrase), words[n:]
	}
	return strings.Join(replaced, " ")
}

// first returns the longest phrase that the words begin with and its number of words, 0 if there is none.
func (p phrases) first(words []string) (string, int) {
	for n := min(p.maxWords[words[0]], len(words)); n > 0; n-- {
		phrase := words[0]
		if n > 1 {
			phrase = strings.Join(words[:n], " ")
		}
		if _, ok := p.class[phrase]; ok {
			return phrase, n
		}
	}
	return "", 0
}

// growth returns an upper bound of the number of words that a sentence gains by replacements.
func (p phrases) growth(sentence string) (words int) {
	if len(p.class) == 0 {
		return 0
	}
	p.replace(sentence, func(phrase string) string {
		longest := 0
		for _, other := range p.classes[p.class[phrase]] {
			longest = max(longest, strings.Count(other, " "))
		}
		words += longest - strings.Count(phrase, " ")
		return phrase
	})
	return words
}
