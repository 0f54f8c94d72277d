package lambada

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A coding converts passages to ids.
type coding struct{ task.Vocabularies }

// blankToken ends the sources of [Reading]: context, [task.Question], the last sentence up to its last word, blankToken.
const blankToken = "<blank>"

// markers is the number of different out-of-vocabulary words of a passage that are kept apart. Each is read as a marker, the same
// throughout the passage, so that it can be the answer. Further ones are <unknown>.
const markers = 64

func marker(n int) string { return fmt.Sprintf("<word-%d>", n+1) }

func isMarker(token string) bool { return strings.HasPrefix(token, "<word-") }

// readingVocabulary adds the tokens of Reading to the known words.
func readingVocabulary(words []string) (*vocab.Vocabulary, error) {
	tokens := []string{task.Question, blankToken}
	for n := range markers {
		tokens = append(tokens, marker(n))
	}
	return vocab.New(append(tokens, words...), vocab.WithUnknown())
}

// text encodes a passage for a language model.
func (c coding) text(p passage) task.Example {
	if c.Subwords != nil {
		return c.subwordText(p)
	}
	ids, _ := c.Target.EncodeLossy(p.words)
	return task.Example{Target: ids, Origin: p}
}

// question encodes a passage for Reading, with markers in order of occurrence.
func (c coding) question(p passage) task.Example {
	order := make([]int, markers)
	for i := range order {
		order[i] = i
	}
	return c.hidden(p, func(string) bool { return false }, order)
}

// hidden is like question, but also replaces the known words selected by hide with markers, and takes markers in the given order.
func (c coding) hidden(p passage, hide func(word string) bool, order []int) task.Example {
	unknown, _ := c.Source.Unknown()
	given := map[string]vocab.ID{}
	id := func(word string) vocab.ID {
		if known, ok := given[word]; ok {
			return known
		}
		known, ok := c.Source.ID(word)
		if !ok || hide(word) {
			known = unknown
			if len(order) > 0 {
				known, _ = c.Source.ID(marker(order[0]))
				order = order[1:]
			}
		}
		given[word] = known
		return known
	}
	source := make([]vocab.ID, 0, len(p.words)+1)
	for _, w := range p.context() {
		source = append(source, id(w))
	}
	question, _ := c.Source.ID(task.Question)
	source = append(source, question)
	for _, w := range p.sentence() {
		source = append(source, id(w))
	}
	blank, _ := c.Source.ID(blankToken)
	return task.Example{Source: append(source, blank), Target: []vocab.ID{c.class(p, id, unknown)}, Origin: p}
}

// class returns the id of the answer. An unknown word that does not occur in the passage cannot be answered: it is <unknown>.
func (c coding) class(p passage, id func(string) vocab.ID, unknown vocab.ID) vocab.ID {
	for _, w := range p.given() {
		if w == p.answer() {
			return id(w)
		}
	}
	if known, ok := c.Target.ID(p.answer()); ok {
		return known
	}
	return unknown
}

// context returns the part of a source from which answers are taken.
func (c coding) context(source []vocab.ID) []vocab.ID {
	question, _ := c.Source.ID(task.Question)
	for i, id := range source {
		if id == question {
			return source[:i]
		}
	}
	return nil
}

// file reads the passages of a file of the version, and notes how many of their last words are unknown.
func (c coding) file(v Version, example func(coding, passage) task.Example) func(string) ([]task.Example, []string, error) {
	return func(path string) ([]task.Example, []string, error) {
		passages, err := v.readFile(path)
		if err != nil {
			return nil, nil, err
		}
		return c.encode(passages, example), []string{path + ": " + c.coverage(passages)}, nil
	}
}

func (c coding) encode(passages []passage, example func(coding, passage) task.Example) []task.Example {
	examples := make([]task.Example, len(passages))
	for i, p := range passages {
		examples[i] = example(c, p)
	}
	return examples
}

// coverage describes how many last words, and how many words overall, are in the vocabulary.
func (c coding) coverage(passages []passage) string {
	if c.Subwords != nil {
		return fmt.Sprintf("all of %d last words can be written in subwords", len(passages))
	}
	last, words, known := 0, 0, 0
	for _, p := range passages {
		ids, unknown := c.Target.EncodeLossy(p.words)
		words, known = words+len(ids), known+len(ids)-unknown
		if unknown, _ := c.Target.Unknown(); !slices.Contains(ids[len(ids)-p.last:], unknown) {
			last++
		}
	}
	return fmt.Sprintf("of %d last words %d are known (%.1f %%), of %d words %d (%.1f %%)",
		len(passages), last, 100*float64(last)/float64(max(len(passages), 1)), words, known, 100*float64(known)/float64(max(words, 1)))
}

// typed wraps a reader of user input: words separated by spaces for the plain version, ordinary text for the other.
func (v Version) typed(r task.Reader) task.Reader {
	if v == OpenAI {
		return printed{r}
	}
	return r
}

// printed reads ordinary text.
type printed struct{ task.Reader }

// Read tokenizes a text like the passages.
func (r printed) Read(text string) (task.Input, error) { return r.Reader.Read(words(text)) }

// Target tokenizes a text like the passages.
func (r printed) Target(text string) ([]vocab.ID, error) { return r.Reader.Target(words(text)) }

func words(text string) string { return strings.Join(penn.Words(text), " ") }

// reader reads passages for Reading.
type reader struct {
	coding
	version Version
}

// Read reads a passage without its last word.
func (r reader) Read(text string) (in task.Input, err error) {
	words, _, err := plainWords(text)
	if err != nil {
		return in, err
	}
	if len(words) == 0 {
		return in, fmt.Errorf("the passage is empty")
	}
	if err := checkNoneReserved(words); err != nil {
		return in, err
	}
	p := newPassage(append(words[:len(words):len(words)], ""), 1) // no word is spelled like this
	in.Source = r.question(p).Source
	in.Labels = append(append(append([]string{}, p.context()...), task.Question), append(p.sentence(), blankToken)...)
	unknown, _ := r.Source.Unknown()
	for i, id := range in.Source {
		if id == unknown { // all markers are in use
			in.Unknown = append(in.Unknown, in.Labels[i])
		}
	}
	if len(p.context()) == 0 {
		return in, fmt.Errorf("the passage has one sentence: the answer must be a word of the sentences before the last")
	}
	return in, nil
}

// Target returns the class of a word.
func (r reader) Target(word string) ([]vocab.ID, error) {
	return r.Vocabularies.Target.Encode([]string{strings.TrimSpace(word)})
}

// File reads whole passages of the version.
func (r reader) File(path string) ([]task.Example, []string, error) {
	return r.file(r.version, coding.question)(path)
}
