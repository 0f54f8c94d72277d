package bleu

import (
	"strings"
	"unicode/utf8"
)

// grams returns all n-grams of a line by order: of 1 to 6 characters, then of 1 to WordOrder words.
func (c ChrF) grams(line string) (grams [chrFOrders][]string) {
	if c.Lowercase {
		line = lower(line)
	}
	characters := line
	if !c.Whitespace {
		characters = strings.Join(fields(line), "")
	}
	starts := make([]int, 0, len(characters)+1)
	for at := range characters {
		starts = append(starts, at)
	}
	starts = append(starts, len(characters))
	for n := range characterOrder {
		for i := range len(starts) - 1 - n {
			grams[n] = append(grams[n], characters[starts[i]:starts[i+n+1]])
		}
	}
	if c.WordOrder > 0 {
		words := wordsOf(line)
		for n := range c.WordOrder {
			for i := range len(words) - n {
				grams[characterOrder+n] = append(grams[characterOrder+n], strings.Join(words[i:i+n+1], " "))
			}
		}
	}
	return grams
}

// wordsOf splits a line at white space, and one ASCII punctuation mark off each word of several characters: the last character if it
// is a mark, otherwise the first. "(hi)" becomes "(hi" and ")", as in the original chrF++.
func wordsOf(line string) []string {
	var words []string
	for _, word := range fields(line) {
		last := len(word) - 1
		switch {
		case utf8.RuneCountInString(word) == 1:
			words = append(words, word)
		case asciiPunctuation(word[last]):
			words = append(words, word[:last], word[last:])
		case asciiPunctuation(word[0]):
			words = append(words, word[:1], word[1:])
		default:
			words = append(words, word)
		}
	}
	return words
}

// asciiPunctuation reports whether b is a printable ASCII character other than letters, digits and the blank.
func asciiPunctuation(b byte) bool {
	return '!' <= b && b <= '/' || ':' <= b && b <= '@' || '[' <= b && b <= '`' || '{' <= b && b <= '~'
}
