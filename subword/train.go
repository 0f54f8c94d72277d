package subword

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

// MinSize is the smallest size of a vocabulary: 256 bytes, padding and the end.
const MinSize = 256 + 2

const (
	defaultSize = 8000
	longestLine = 1 << 20 // bytes
)

// A Trainer counts the words of texts and trains a BPE. The result depends only on the counts.
type Trainer struct {
	Size     int // size of the vocabulary, including 256 bytes and the special tokens; 0 means 8000
	MinCount int // minimum count of a pair to be merged; 0 means 1

	// Progress, unless nil, is called with the number of merges done and the total. An error ends Train.
	Progress func(done, total int) error

	counts map[string]int64
	lines  int
}

// Validate returns an error that names the first invalid field.
func (t *Trainer) Validate() error {
	switch {
	case t.Size != 0 && t.Size < MinSize:
		return fmt.Errorf("size is %d: it must be at least %d, the special tokens and a token for every byte", t.Size, MinSize)
	case t.Size > 1<<24:
		return fmt.Errorf("size is %d: it can be at most %d", t.Size, 1<<24)
	case t.MinCount < 0:
		return fmt.Errorf("min-count is %d: it must be at least 1, or 0 for 1", t.MinCount)
	}
	return nil
}

// Lines returns the number of lines counted.
func (t *Trainer) Lines() int { return t.lines }

// ErrNUL is the error of a file that has NUL characters.
var ErrNUL = errors.New("NUL: this is no text")

// Count counts the words of a text's lines, without their line endings. Errors name the line; NUL characters are an [ErrNUL].
func (t *Trainer) Count(text io.Reader) error {
	scanner := bufio.NewScanner(textfile.NewReader(text, math.MaxInt64))
	scanner.Buffer(nil, longestLine)
	number := 0
	for scanner.Scan() {
		number++
		if at := bytes.IndexByte(scanner.Bytes(), 0); at >= 0 {
			return fmt.Errorf("line %d: byte %d is %w", number, at+1, ErrNUL)
		}
		if err := t.Add(scanner.Text()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	err := scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d bytes", number+1, longestLine)
	}
	return err
}

// Add counts the words of one line, which must be valid UTF-8.
func (t *Trainer) Add(line string) error {
	if err := CheckText(line); err != nil {
		return err
	}
	if t.counts == nil {
		t.counts = map[string]int64{}
	}
	for len(line) > 0 {
		n := firstWord(line)
		if word := line[:n]; t.counts[word] > 0 {
			t.counts[word]++
		} else {
			t.counts[strings.Clone(word)] = 1 // do not keep the whole line in memory
		}
		line = line[n:]
	}
	t.lines++
	return nil
}

// Train merges pairs until the vocabulary has the requested size, or no pair is left.
func (t *Trainer) Train() (*BPE, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if len(t.counts) == 0 {
		return nil, errors.New("there is no text to train on")
	}
	pieces, ids := alphabet()
	c := newCorpus(t.counts, ids)
	size, start := t.Size, len(pieces)
	if size == 0 {
		size = defaultSize
	}
	var pairs []pair
	for len(pieces) < size {
		p, words, ok := c.nextPair(max(int64(t.MinCount), 1))
		if !ok {
			break
		}
		c.merge(p, vocab.ID(len(pieces)), words)
		pairs, pieces = append(pairs, p), append(pieces, pieces[p.left]+pieces[p.right])
		if t.Progress != nil {
			if err := t.Progress(len(pieces)-start, size-start); err != nil {
				return nil, err
			}
		}
	}
	return newBPE(gpt2(), pieces, specials(), pairs, unknown{id: none})
}

// alphabet returns the initial vocabulary: the special tokens, then all bytes, in the order of the characters that represent them. It
// also returns the ids of the bytes.
func alphabet() (pieces []string, ids [256]vocab.ID) {
	pieces = slices.Clone(specialTokens)
	characters := slices.Sorted(slices.Values(byteCharacter[:]))
	for _, character := range characters {
		ids[characterByte[character]] = vocab.ID(len(pieces))
		pieces = append(pieces, string(character))
	}
	return pieces, ids
}

// specialTokens are the tokens at the ids of padding and end.
var specialTokens = []string{vocab.Padding: vocab.PaddingToken, vocab.End: vocab.EndToken}

func specials() map[vocab.ID]bool { return map[vocab.ID]bool{vocab.Padding: true, vocab.End: true} }
