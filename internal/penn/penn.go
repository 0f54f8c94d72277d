// Package penn splits English prose into words and sentences as in the Penn Treebank, in lower case: the form of LAMBADA's passages,
// and of the agreement sentences but for their brackets.
//
//	"I don't know," said Mr. Bell.  ->  `` i do n't know , '' said mr. bell .
//
// Round, square and curly brackets become -lrb-, -rrb- and so on. Italics of Project Gutenberg (_very_) lose their marks. Text that
// is already split does not change.
package penn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiMarks replaces typographic marks by ASCII ones. Opening and closing quotes stay distinct.
var asciiMarks = strings.NewReplacer("“", " `` ", "”", " '' ", "„", " `` ", "‘", " ` ", "’", "'", "—", " -- ", "–", " -- ", "…", " ... ", "\u00a0", " ")

// Words returns the words and punctuation marks of a text in lower case.
func Words(text string) (words []string) {
	for _, chunk := range strings.Fields(asciiMarks.Replace(strings.ToLower(text))) {
		words = appendChunk(words, chunk)
	}
	return words
}

// brackets maps brackets to their spellings in the treebank.
var brackets = map[byte]string{'(': "-lrb-", ')': "-rrb-", '[': "-lsb-", ']': "-rsb-", '{': "-lcb-", '}': "-rcb-"}

// unsplit lists chunks that are not split: marks and clitics that have been split before, and words that begin with an apostrophe.
var unsplit = []string{"``", "''", "`", "'", "n't", "'s", "'m", "'d", "'ll", "'re", "'ve", "'em", "'til", "'till", "'cause", "'n", "'n'", "'bout"}

// appendChunk splits a chunk, which contains no white space.
func appendChunk(words []string, chunk string) []string {
	if strings.Trim(chunk, "_") != "" {
		chunk = strings.ReplaceAll(chunk, "_", "")
	}
	tail := len(chunk) - lastPart(chunk)
	for chunk != "" {
		if slices.Contains(unsplit, chunk) {
			return append(words, chunk)
		}
		if mark, spelled := leadingMark(chunk); mark != "" {
			words, chunk = append(words, spelled), chunk[len(mark):]
			continue
		}
		end := wordEnd(chunk, tail)
		if strings.HasPrefix(chunk[end:], ".") && !strings.HasPrefix(chunk[end:], "..") && abbreviates(chunk[:end]) {
			end++
		}
		words, chunk = appendWord(words, chunk[:end]), chunk[end:]
		words, chunk = appendClosing(words, chunk, tail)
	}
	return words
}

// leadingMark returns the mark at the start of a chunk and its spelling. Quotes at the start are opening ones.
func leadingMark(chunk string) (mark, spelled string) {
	switch c := chunk[0]; {
	case c == '"':
		return chunk[:1], "``"
	case strings.HasPrefix(chunk, "``"), strings.HasPrefix(chunk, "''"):
		return chunk[:2], chunk[:2]
	case c == '\'' || c == '`':
		return chunk[:1], "`"
	case brackets[c] != "":
		return chunk[:1], brackets[c]
	case strings.IndexByte(",;:", c) >= 0:
		return chunk[:1], chunk[:1]
	case c == '.':
		return dots(chunk)
	case strings.IndexByte("?!", c) >= 0:
		n := run(chunk, "?!")
		return chunk[:n], chunk[:n]
	case c == '-' && !strings.HasPrefix(chunk, "--"):
		if slices.Contains([]string{"-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"}, chunk) {
			return chunk, chunk
		}
		return chunk[:1], chunk[:1]
	case strings.IndexByte("-*#$%&<>~@=+/|\\^", c) >= 0:
		n := run(chunk, chunk[:1])
		if c == '-' {
			return chunk[:n], "--"
		}
		return chunk[:n], chunk[:n]
	}
	return "", ""
}

// dots returns one full stop, or an ellipsis of two or three.
func dots(chunk string) (mark, spelled string) {
	if n := run(chunk[:min(3, len(chunk))], "."); n > 1 {
		return chunk[:n], "..."
	}
	return chunk[:1], "."
}

// run returns the number of leading bytes that are in a set.
func run(text, set string) int { return len(text) - len(strings.TrimLeft(text, set)) }

// wordEnd returns the end of the word at the start of a chunk, which is before the first mark that cannot be inside a word. tail is the number of
// bytes from the last letter or digit of the text on.
func wordEnd(chunk string, tail int) int {
	for i, r := range chunk {
		rest := chunk[i:]
		switch {
		case i == 0:
		case strings.ContainsRune("\";?!()[]{}*#$%&<>~@=+/|\\^`", r), strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "''"):
			return i
		case strings.HasPrefix(rest, "..") || r == '.' && len(rest) < tail:
			return i
		case (r == ',' || r == ':') && !betweenDigits(chunk, i):
			return i
		case (r == '\'' || r == '-') && len(rest) < tail:
			return i
		}
	}
	return len(chunk)
}

// lastPart returns the index of the last letter or digit, which are the parts of words; -1 if there is none.
func lastPart(text string) int {
	return strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// betweenDigits reports whether a mark is between two digits, as in 1,000 and 10:30.
func betweenDigits(chunk string, i int) bool {
	after, _ := utf8.DecodeRuneInString(chunk[i+1:])
	before, _ := utf8.DecodeLastRuneInString(chunk[:i])
	return unicode.IsDigit(before) && unicode.IsDigit(after)
}

// appendClosing splits off the marks after a word. Quotes after a word are closing ones. tail is as for wordEnd.
func appendClosing(words []string, chunk string, tail int) ([]string, string) {
	for chunk != "" {
		switch {
		case chunk[0] == '"':
			words, chunk = append(words, "''"), chunk[1:]
		case strings.HasPrefix(chunk, "''"):
			words, chunk = append(words, "''"), chunk[2:]
		case chunk[0] == '\'':
			words, chunk = append(words, "'"), chunk[1:]
		default:
			mark, spelled := leadingMark(chunk)
			if mark == "" {
				return words, chunk
			}
			words, chunk = append(words, spelled), chunk[len(mark):]
			if spelled == "--" && len(chunk) >= tail || strings.Contains("([{", mark) {
				return words, chunk // what follows is another word
			}
		}
	}
	return words, chunk
}
