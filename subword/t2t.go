package subword

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"universal-transformer/internal/vocab"
)

// T2T is a subword vocabulary of tensor2tensor, as used by the paper's translation models. Text is split at every boundary between
// letters or numbers and other characters; a single blank between two words is dropped. A token is escaped, ends with "_", and is
// split into the longest pieces from left to right. A T2T is immutable and may be used concurrently.
type T2T struct {
	pieces   []string
	ids      map[string]vocab.ID
	alphabet map[rune]bool
	longest  int // bytes of the longest piece
	words    cache
}

const longestPiece = 1000 // bytes

// readT2T reads one piece per line, usually in quotes. The first two are padding and end.
func readT2T(data []byte) (*T2T, error) {
	t := &T2T{ids: map[string]vocab.ID{}, alphabet: map[rune]bool{}}
	for _, r := range `\_u;0123456789` {
		t.alphabet[r] = true
	}
	for line := range strings.Lines(string(data)) {
		piece := strings.TrimSpace(line)
		for _, quote := range []string{"'", `"`} {
			if strings.HasPrefix(piece, quote) && strings.HasSuffix(piece, quote) {
				piece = piece[1:max(1, len(piece)-1)]
				break
			}
		}
		if len(piece) > longestPiece {
			return nil, fmt.Errorf("line %d: a subword of more than %d bytes", len(t.pieces)+1, longestPiece)
		}
		if piece != "" {
			t.ids[piece] = vocab.ID(len(t.pieces)) // the last of equal pieces is used
		}
		for _, r := range piece {
			t.alphabet[r] = true
		}
		t.longest = max(t.longest, len(piece))
		t.pieces = append(t.pieces, piece)
	}
	if len(t.pieces) < 3 || strings.TrimSuffix(t.pieces[0], "_") != "<pad>" || strings.TrimSuffix(t.pieces[1], "_") != "<EOS>" {
		return nil, errors.New("neither a tokenizer.json nor tensor2tensor's subwords, which begin with '<pad>' and '<EOS>'")
	}
	return t, nil
}

// Encode returns the ids of a text.
func (t *T2T) Encode(text string) ([]vocab.ID, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	var ids []vocab.ID
	for _, token := range splitT2T(text) {
		more, err := t.token(token)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	return ids, nil
}

// splitT2T splits a text into tokens. A single blank is a token only at the ends of the text.
func splitT2T(text string) []string {
	var tokens []string
	start, before := 0, false
	for at, r := range text {
		word := isWord(r)
		if at > 0 && word != before {
			if token := text[start:at]; token != " " || start == 0 {
				tokens = append(tokens, token)
			}
			start = at
		}
		before = word
	}
	if start < len(text) {
		tokens = append(tokens, text[start:])
	}
	return tokens
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// token returns the ids of one token. The caller must not change them.
func (t *T2T) token(token string) ([]vocab.ID, error) {
	if ids, ok := t.words.get(token); ok {
		return ids, nil
	}
	escaped := t.escape(token)
	var ids []vocab.ID
	for rest := escaped; rest != ""; {
		end := min(len(rest), t.longest)
		for end > 0 {
			if _, ok := t.ids[rest[:end]]; ok {
				break
			}
			end--
		}
		if end == 0 {
			r, _ := utf8.DecodeRuneInString(rest)
			return nil, fmt.Errorf("%q cannot be encoded: the vocabulary has no subword for %q", token, r)
		}
		ids = append(ids, t.ids[rest[:end]])
		rest = rest[end:]
	}
	t.words.put(token, ids)
	return ids, nil
}

// escape writes a token in characters of the alphabet, with other characters as numbers, and "_" only at its end.
func (t *T2T) escape(token string) string {
	var b strings.Builder
	for _, r := range token {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '_':
			b.WriteString(`\u`)
		case t.alphabet[r]:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\%d;`, r)
		}
	}
	b.WriteByte('_')
	return b.String()
}

var escapes = regexp.MustCompile(`\\u|\\\\|\\[0-9]+;`)

// unescape is the inverse of escape. A number that is not a character becomes "〓".
func unescape(token string) string {
	return escapes.ReplaceAllStringFunc(token, func(escape string) string {
		switch escape {
		case `\u`:
			return "_"
		case `\\`:
			return `\`
		}
		n, err := strconv.ParseInt(escape[1:len(escape)-1], 10, 32)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return "〓"
		}
		return string(rune(n))
	})
}

// Decode returns the text of ids.
func (t *T2T) Decode(ids []vocab.ID) (string, error) {
	if err := checkIDs(ids, len(t.pieces)); err != nil {
		return "", err
	}
	var pieces strings.Builder
	for _, id := range ids {
		if id != vocab.Padding && id != vocab.End {
			pieces.WriteString(t.pieces[id])
		}
	}
	var text strings.Builder
	word := false
	for _, token := range strings.Split(pieces.String(), "_") {
		token = unescape(token)
		if token == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(token)
		if word && isWord(first) {
			text.WriteByte(' ')
		}
		text.WriteString(token)
		word = isWord(first)
	}
	return text.String(), nil
}

// Size returns the number of lines of the file.
func (t *T2T) Size() int { return len(t.pieces) }

// Token returns a piece, with "␣" for a blank.
func (t *T2T) Token(id vocab.ID) string {
	if id < 0 || int(id) >= len(t.pieces) {
		return fmt.Sprintf("<id %d>", id)
	}
	return strings.ReplaceAll(t.pieces[id], " ", "␣")
}

// ModelIDs returns nil, as padding and end were checked when the file was read.
func (t *T2T) ModelIDs() error { return nil }
