package lambada

import (
	"slices"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/vocab"
)

// The shape of passages that are made from prose.
const (
	shortestContext = 50  // minimum number of tokens of the context, which consists of as few sentences as possible
	longestContext  = 150 // maximum number of tokens of the context
	longestSentence = 54  // tokens of the last sentence up to its last word; the total is at most that of LAMBADA's passages
	shortestClause  = 4   // words before an answer that is not the last word of its sentence
)

// A candidate is a passage in the text, by the indices of its context, its last sentence (question) and the answer.
type candidate struct{ start, question, answer int }

// each calls found with every sentence that has enough context before it in its book.
func (c *corpus) each(found func(start, question, end int)) {
	for b, first := range c.books[:len(c.books)-1] {
		start := first
		for s := first; s < c.books[b+1]; s++ {
			question := c.sentences[s]
			for start < s && question-c.sentences[start+1] >= shortestContext {
				start++
			}
			if n := question - c.sentences[start]; n >= shortestContext && n <= longestContext {
				found(c.sentences[start], question, c.sentences[s+1])
			}
		}
	}
}

// candidates returns the passages of Reading: those whose answer is a content word that occurs in the context.
func (c *corpus) candidates(of Reading) (list []candidate) {
	follows := func(vocab.ID, vocab.ID) bool { return false }
	if of.Withheld {
		follows = c.follows()
	}
	content := make([]bool, c.known.Size()+len(c.rare))
	for id := range content {
		content[id] = isContent(c.word(vocab.ID(id)))
	}
	occurs := make([]int, len(content)) // the last question before which a word occurs, plus 1
	c.each(func(start, question, end int) {
		last := c.lastWord(question, end)
		for _, id := range c.ids[start:question] {
			occurs[id] = question + 1
		}
		for at := question; at <= last && at-question <= longestSentence; at++ {
			if at != last && (of.LastOnly || at-question < shortestClause) {
				continue
			}
			id := c.ids[at]
			if !content[id] || occurs[id] != question+1 {
				continue
			}
			if of.Withheld && (slices.Contains(c.ids[question:at], id) || at > question && follows(c.ids[at-1], id)) {
				continue
			}
			list = append(list, candidate{start, question, at})
		}
	})
	return list
}

// tellingShare is the fraction of a word's occurrences that must be followed by another word for the first to give it away, not counting
// one occurrence.
const tellingShare = 0.02

// follows returns a function that reports whether one word gives away the next, by the frequency of the pair in the text.
func (c *corpus) follows() func(first, second vocab.ID) bool {
	single, pair := map[vocab.ID]int{}, map[[2]vocab.ID]int{}
	for i, id := range c.ids {
		single[id]++
		if i > 0 {
			pair[[2]vocab.ID{c.ids[i-1], id}]++
		}
	}
	return func(first, second vocab.ID) bool {
		return float64(pair[[2]vocab.ID{first, second}]-1) >= tellingShare*float64(single[first])
	}
}

// lastWord returns the index of the last word of a sentence, before its final punctuation; -1 if there is no word.
func (c *corpus) lastWord(question, end int) int {
	for at := end - 1; at >= question; at-- {
		if penn.IsWord(c.word(c.ids[at])) {
			return at
		}
	}
	return -1
}

// passage returns the words of a candidate.
func (c *corpus) passage(of candidate) passage {
	return passage{words: c.words(of.start, of.answer+1), last: 1, question: of.question - of.start}
}

// maxControl is approximately the size of the authors' control set.
const maxControl = 5000

// controlFrom makes passages from a book in the shape of LAMBADA's, without selection: every sentence with enough context before it, up to
// its last word. If there are more than maxControl, it takes them at equal distances.
func controlFrom(path string) (passages []passage, err error) {
	sentences, err := readBook(path)
	if err != nil {
		return nil, err
	}
	c := &corpus{known: &vocab.Vocabulary{}}
	c.addBook(sentences, map[string]vocab.ID{})
	c.end()
	c.each(func(start, question, end int) {
		if last := c.lastWord(question, end); last > question && last-question <= longestSentence {
			passages = append(passages, c.passage(candidate{start, question, last}))
		}
	})
	if n := len(passages); n > maxControl {
		spread := make([]passage, maxControl)
		for i := range spread {
			spread[i] = passages[i*n/maxControl]
		}
		passages = spread
	}
	return passages, nil
}
