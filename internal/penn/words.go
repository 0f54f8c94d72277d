package penn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations keep their full stop. So do single letters (j.) and words that contain one (u.s., a.m.).
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "messrs": true, "dr": true, "st": true, "jr": true, "sr": true, "prof": true, "vs": true, "etc": true,
	"rev": true, "hon": true, "esq": true, "gov": true, "gen": true, "col": true, "capt": true, "lt": true, "sgt": true, "maj": true, "det": true,
	"brig": true, "vol": true, "viz": true, "mt": true,
}

// splitAt lists words that the treebank splits in two, with the length of the first part.
var splitAt = map[string]int{"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3}

// appendWord splits clitics off a word.
func appendWord(words []string, word string) []string {
	if at, ok := splitAt[word]; ok {
		return append(words, word[:at], word[at:])
	}
	if at := cliticStart(word); at > 0 {
		return append(words, word[:at], word[at:])
	}
	return append(words, word)
}

// cliticStart returns the start of a clitic in a word, or 0 if there is none.
func cliticStart(word string) int {
	for _, end := range []string{"n't", "'s", "'m", "'d", "'ll", "'re", "'ve"} {
		if len(word) > len(end) && strings.HasSuffix(word, end) {
			return len(word) - len(end)
		}
	}
	return 0
}

// abbreviates reports whether a word keeps a full stop that follows it.
func abbreviates(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	return abbreviations[word] || size == len(word) && unicode.IsLetter(first) || strings.Contains(word, ".")
}

// IsWord reports whether a token is a word or a number, not a mark or a bracket.
func IsWord(token string) bool {
	if len(token) == 5 && token[0] == '-' && token[4] == '-' {
		return false
	}
	return strings.ContainsFunc(token, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// closers may follow the mark that ends a sentence.
var closers = []string{"''", "'", "-rrb-", ")"}

// Sentences returns the sentences of a text as words. An empty line ends a sentence.
func Sentences(text string) (sentences [][]string) {
	for paragraph := range paragraphs(text) {
		words := Words(paragraph)
		for len(words) > 0 {
			end := SentenceEnd(words)
			sentences, words = append(sentences, words[:end:end]), words[end:]
		}
	}
	return sentences
}

// SentenceEnd returns the number of words of the first sentence, including its marks, or of all words if no sentence ends. The end of
// a quotation ends a sentence, because in lower case it cannot be distinguished.
func SentenceEnd(words []string) int {
	for i, w := range words {
		if !endsSentence(w) {
			continue
		}
		for i++; i < len(words) && slices.Contains(closers, words[i]); i++ {
		}
		return i
	}
	return len(words)
}

// endsSentence reports whether a mark ends a sentence.
func endsSentence(mark string) bool { return mark != "" && strings.Trim(mark, ".?!") == "" }

// paragraphs iterates over the parts between empty lines.
func paragraphs(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var lines []string
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, line)
				continue
			}
			if len(lines) > 0 && !yield(strings.Join(lines, "")) {
				return
			}
			lines = nil
		}
		if len(lines) > 0 {
			yield(strings.Join(lines, ""))
		}
	}
}
