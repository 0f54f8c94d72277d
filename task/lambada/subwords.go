package lambada

import (
	"slices"
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// sampled is approximately the number of words of the training text from which subwords are learned.
const sampled = 2_000_000

// subwords cuts words into subwords, each word with the space before it. A word has the same subwords wherever it occurs.
type subwords struct {
	of   *subword.Pieces
	seen map[string][]vocab.ID
}

func newSubwords(of *subword.Pieces) *subwords {
	return &subwords{of: of, seen: map[string][]vocab.ID{}}
}

// cut returns the ids of a word's subwords.
func (s *subwords) cut(word string) ([]vocab.ID, error) {
	if ids, ok := s.seen[word]; ok {
		return ids, nil
	}
	ids, err := s.of.Encode(" " + word)
	if err == nil {
		s.seen[word] = ids
	}
	return ids, err
}

// intoSubwords learns subwords from the text, or reads them, and returns the text in subwords.
func (c *corpus) intoSubwords(of subword.Choice) (*corpus, error) {
	pieces, err := of.Pieces(c.sample(sampled))
	if err != nil {
		return nil, err
	}
	cutter := newSubwords(pieces)
	words := make([][]vocab.ID, c.known.Size()+len(c.rare))
	for id := vocab.End + 1; int(id) < len(words); id++ {
		if words[id], err = cutter.cut(c.word(id)); err != nil {
			return nil, err
		}
	}
	n := 0
	for _, id := range c.ids {
		n += len(words[id])
	}
	cut := &corpus{known: pieces.Vocabulary(), ids: make([]vocab.ID, 0, n), books: c.books, pieces: pieces}
	sentence := 0
	for at, id := range c.ids {
		for ; sentence < len(c.sentences) && c.sentences[sentence] == at; sentence++ {
			cut.sentences = append(cut.sentences, len(cut.ids))
		}
		cut.ids = append(cut.ids, words[id]...)
	}
	for ; sentence < len(c.sentences); sentence++ {
		cut.sentences = append(cut.sentences, len(cut.ids))
	}
	return cut, nil
}

// wordEnd returns the end of the last whole word between start and end.
func (c *corpus) wordEnd(start, end int) int {
	for at := end; at > start && at < len(c.ids); at-- {
		if strings.HasPrefix(c.pieces.Text(c.ids[at:at+1]), " ") {
			return at
		}
	}
	return end
}

// sample returns about n words of the text: sentences at equal distances, each as a line.
func (c *corpus) sample(n int) func(yield func(string) bool) {
	every := max(1, len(c.ids)/n)
	return func(yield func(string) bool) {
		for s := 0; s < len(c.sentences)-1; s += every {
			if !yield(" " + strings.Join(c.words(c.sentences[s], c.sentences[s+1]), " ")) {
				return
			}
		}
	}
}

// subwordText encodes a passage for a language model of subwords.
func (c coding) subwordText(p passage) task.Example {
	cutter, first := newSubwords(c.Subwords), len(p.words)-p.last
	var ids []vocab.ID
	for i, w := range p.words {
		if i == first {
			p.pieces = -len(ids)
		}
		of, err := cutter.cut(w)
		if err != nil {
			panic(err) // cannot happen: passages are valid UTF-8
		}
		ids = append(ids, of...)
	}
	p.pieces += len(ids)
	return task.Example{Target: ids, Origin: p}
}

// spaced reads text as training text is cut: words, each with the space before it.
type spaced struct{ task.Reader }

// Read reads a prompt.
func (r spaced) Read(text string) (task.Input, error) { return r.Reader.Read(spacedWords(text)) }

// Target reads a text.
func (r spaced) Target(text string) ([]vocab.ID, error) { return r.Reader.Target(spacedWords(text)) }

func spacedWords(text string) string {
	words := slices.Insert(strings.Fields(text), 0, "")
	if len(words) == 1 {
		return ""
	}
	return strings.Join(words, " ")
}
