package lambada

import (
	"sort"
	"strings"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// pieces is the training text of Language, in segments.
type pieces struct {
	*corpus
	length  int
	learned int // number of training tokens; the tokens after them are for validation
}

// count returns the number of segments of an epoch.
func (p pieces) count() int { return p.learned / p.length }

// training returns a segment that begins with the sentence at an offset that changes with the epoch. It ends at the end of its book
// or before.
func (p pieces) training(seedValue uint64, i int64) task.Example {
	n := int64(p.count())
	order := seed.NewPermutation(seedValue, "lambada/epoch", i/n, int(n))
	offset := seed.Rand(seedValue, "lambada/offset", i/n).IntN(p.length)
	at := min(order.At(int(i%n))*p.length+offset, p.learned-1)
	s := sort.SearchInts(p.sentences, at+1) - 1
	book := sort.SearchInts(p.books, s+1) // the next book
	return p.piece(p.sentences[s], min(p.sentences[p.books[book]], p.learned))
}

// piece returns the segment from start, up to end.
func (p pieces) piece(start, end int) task.Example {
	unknown, _ := p.known.Unknown()
	var target []vocab.ID
	for _, id := range p.ids[start:min(start+p.length, end)] {
		if int(id) >= p.known.Size() {
			id = unknown
		}
		target = append(target, id)
	}
	return task.Example{Target: target, Origin: segment{p.corpus, start, start + len(target)}}
}

// segment is the Origin of a segment of the training text.
type segment struct {
	of         *corpus
	start, end int
}

// Text returns the words of the segment; there is no source. A word whose subwords are cut off is left out.
func (s segment) Text() (source, target string) {
	if s.of.pieces != nil {
		return "", strings.TrimSpace(s.of.pieces.Text(s.of.ids[s.start:s.of.wordEnd(s.start, s.end)]))
	}
	return "", strings.Join(s.of.words(s.start, s.end), " ")
}

// held returns the segments that are held out.
func (p pieces) held() (examples []task.Example) {
	for at := p.learned; at < len(p.ids); at += p.length {
		examples = append(examples, p.piece(at, len(p.ids)))
	}
	return examples
}

// questions is the training text of Reading.
type questions struct {
	*corpus
	coding
	list   []candidate // training passages
	held   []candidate // validation passages if the version has no development set: a fiftieth of all, in contiguous groups
	hidden float64

	annotated []passage // training passages of the development set
	share     float64   // share of them among the examples
}

func newQuestions(t *Task, c Reading, annotated []passage) questions {
	q := questions{corpus: t.corpus, coding: t.coding, hidden: c.Hidden, annotated: annotated, share: c.Annotated}
	for i, candidate := range t.corpus.candidates(c) {
		if len(t.sets.development) == 0 && i/100%50 == 0 {
			q.held = append(q.held, candidate)
		} else {
			q.list = append(q.list, candidate)
		}
	}
	return q
}

// examples returns the passages that are held out.
func (q questions) examples() []task.Example {
	examples := make([]task.Example, len(q.held))
	for i, candidate := range q.held {
		examples[i] = q.question(q.passage(candidate))
	}
	return examples
}

// training returns a passage with a fraction of its content words hidden, and randomly numbered markers.
func (q questions) training(seedValue uint64, i int64) task.Example {
	rng := seed.Rand(seedValue, "lambada/markers", i)
	hide := func(word string) bool { return isContent(word) && rng.Float64() < q.hidden }
	return q.coding.hidden(q.learned(seedValue, i), hide, rng.Perm(markers))
}

// learned returns the i-th passage: a random one of the development set, or the next of the books.
func (q questions) learned(seedValue uint64, i int64) passage {
	if q.share > 0 {
		if rng := seed.Rand(seedValue, "lambada/annotated", i); rng.Float64() < q.share {
			return q.annotated[rng.IntN(len(q.annotated))]
		}
	}
	n := int64(len(q.list))
	order := seed.NewPermutation(seedValue, "lambada/epoch", i/n, len(q.list))
	return q.passage(q.list[order.At(int(i%n))])
}
