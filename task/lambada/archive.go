package lambada

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
)

// Names of the files in the authors' unpacked archive, and of the file of the other version.
const (
	Development = "lambada_development_plain_text.txt"
	Test        = "lambada_test_plain_text.txt"
	Control     = "lambada_control_test_data_plain_text.txt"
	WordList    = "lambada-vocab-2.txt" // words of the novels and how often each occurs, most frequent first
	Novels      = "train-novels"        // a folder of folders of .txt files
	OpenAITest  = "lambada_test.jsonl"
)

// sets holds the passages of a version that are available.
type sets struct{ development, test, control []passage }

// readSets reads the passages of the version. The test set is required.
func (d Data) readSets() (s sets, err error) {
	if d.Version == OpenAI {
		s.test, err = d.Version.readFile(filepath.Join(d.Path, OpenAITest))
		return s, err
	}
	for _, set := range []struct {
		name string
		of   *[]passage
	}{{Test, &s.test}, {Development, &s.development}, {Control, &s.control}} {
		*set.of, err = d.Version.readFile(filepath.Join(d.Path, set.name))
		if errors.Is(err, fs.ErrNotExist) && set.name == Control {
			continue
		}
		if _, other := os.Stat(filepath.Join(d.Path, OpenAITest)); errors.Is(err, fs.ErrNotExist) && set.name == Test && other == nil {
			err = fmt.Errorf("%w; %s is there: it is read with task.version=%s", err, OpenAITest, OpenAI)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// keptEvery: every keptEvery-th passage of the development set is not used for training.
const keptEvery = 10

// annotated removes the training passages from the development set and returns them: of nine in ten, those whose answer is in the
// context and which do not occur in the test set.
func (s *sets) annotated() (learned []passage) {
	test := texts(s.test)
	var kept []passage
	for i, p := range s.development {
		switch {
		case i%keptEvery == 0:
			kept = append(kept, p)
		case slices.Contains(p.context(), p.answer()) && !test[p.text()]:
			learned = append(learned, p)
		}
	}
	s.development = kept
	return learned
}

// readWordList reads the words of the list that occur at least minCount times.
func readWordList(path string, minCount int) (words []string, err error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseWordList(path, f, minCount)
}

// parseWordList reads lines with a word, or a word, a tab and its count. Counted words are returned by decreasing frequency.
func parseWordList(name string, r io.Reader, minCount int) (words []string, err error) {
	lines, counts, at := bufio.NewScanner(textfile.NewLineReader(r, largestFile)), map[string]int{}, 1
	for ; lines.Scan(); at++ {
		word, number, counted := strings.Cut(lines.Text(), "\t")
		n, err := strconv.Atoi(number)
		_, again := counts[word]
		switch {
		case !utf8.ValidString(word):
			return nil, fmt.Errorf("%s:%d: not valid UTF-8", name, at)
		case counted && (err != nil || n < 0):
			return nil, fmt.Errorf("%s:%d: the count is %.40q: it must be a number from 0 to %d", name, at, number, math.MaxInt)
		case word == "" || strings.ContainsAny(word, " \v\f\r\u0085\u00a0"):
			return nil, fmt.Errorf("%s:%d: %.40q is not a word", name, at, word)
		case again:
			return nil, fmt.Errorf("%s:%d: the word %.40q occurs a second time", name, at, word)
		}
		counts[word] = n
		if checkNoneReserved([]string{word}) == nil && (!counted || n >= minCount) {
			words = append(words, word)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, at, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s has no words", name)
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return words, nil
}

// Count returns the number of passages in a file of the version.
func (v Version) Count(path string) (int, error) {
	passages, err := v.readFile(path)
	return len(passages), err
}

// CountWords returns the number of words in a word list.
func CountWords(path string) (int, error) {
	words, err := readWordList(path, 0)
	return len(words), err
}

// CountBooks returns the number of books in a folder.
func CountBooks(folder string) (int, error) {
	files, err := books(folder)
	return len(files), err
}

// CountProse returns the number of words and punctuation marks in a book.
func CountProse(path string) (n int, err error) {
	sentences, err := readBook(path)
	for _, words := range sentences {
		n += len(words)
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("%s has no words", path)
	}
	return n, err
}
