package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/textfile"
	"universal-transformer/task"
)

// Pairs ranks sentences: a language model trained on the user's own text should assign a sentence a higher probability than the same
// sentence with the other form of its verb. The pairs are used for testing only. They are lower-cased and tokenized as in the Penn
// Treebank; a training text with other conventions or another vocabulary lowers the result.
type Pairs struct {
	Path       string `json:"path" file:"any"`     // NAME.text, one sentence per line, each ending in <eos>; NAME.gold in the same folder lists the verbs
	Text       string `json:"text" file:"any"`     // training text: a file with one tokenized sentence per line, or a folder of books, .txt files
	MinCount   int    `json:"min_count"`           // training words that occur less often become <unknown>; 0 means 1
	Vocabulary int    `json:"vocabulary,omitzero"` // number of most frequent training words that are known; 0 means all
}

const (
	textFile = ".text"
	goldFile = ".gold"
	ending   = "<eos>"
)

// Kind returns task.LanguageModeling.
func (Pairs) Kind() task.Kind { return task.LanguageModeling }

// String names the task.
func (Pairs) String() string { return "agreement, ranking of sentence pairs" }

// Validate returns an error that names the first missing or invalid field.
func (c Pairs) Validate() error {
	switch {
	case !strings.HasSuffix(c.Path, textFile):
		return fmt.Errorf("path is %q: name a file of sentences that ends in %s, with a file that ends in %s in the same folder", c.Path, textFile, goldFile)
	case c.Text == "":
		return errors.New("text is empty: name a training text with one sentence per line")
	case c.MinCount < 0:
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", c.MinCount)
	case c.Vocabulary < 0:
		return fmt.Errorf("vocabulary is %d: it must be positive, or 0 for all words", c.Vocabulary)
	}
	return nil
}

var pairForm = form{whole: true, ranked: true}

// Open reads the files.
func (c Pairs) Open() (task.Task, error) { return open(c, pairForm, c.MinCount, 0, c.read) }

// Measure compares the probabilities of sentences.
func (c Pairs) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{pairForm, v}}
}

// Reader reads prompts, and sentences to score; files are .text files with their .gold files next to them, or one file
// with the lines of both, separated by a tab.
func (Pairs) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, FileOf: coding{pairForm, v}.file(readPairs)}
}

// read holds out a twentieth of the text for validation. Sentences that occur in pairs, or are too long, are not trained on.
func (c Pairs) read() (d division, err error) {
	var leftOut string
	if d.test, leftOut, err = readPairs(c.Path); err != nil {
		return d, err
	}
	test, long, shared := map[string]bool{}, 0, 0
	for _, r := range d.test {
		test[r.text] = true
	}
	err = eachSentence(c.Text, func(words []string) {
		r := row{text: strings.Join(words, " "), attractors: unlabelled}
		switch {
		case len(words) > longestSentence:
			long++
		case test[r.text]:
			shared++
		case bucket(r.text, 20) == 0:
			d.validation = append(d.validation, r)
		default:
			d.training = append(d.training, r)
		}
	})
	if err = task.OfDataSet("gutenberg", err); err != nil {
		return d, err
	}
	if d.known, err = frequentWords(pairForm, d.training, c.MinCount, c.Vocabulary); err != nil {
		return d, err
	}
	if leftOut != "" {
		d.notes = append(d.notes, leftOut)
	}
	d.notes = append(d.notes, fmt.Sprintf("skipped %d sentences of the text: %d have more than %d words, %d are pairs", long+shared, long, longestSentence, shared))
	return d, nil
}

// readPairs reads a .text file and its .gold file. Pairs in which neither form is the other's plural are skipped.
func readPairs(path string) (rows []row, leftOut string, err error) {
	all, err := readGold(path)
	for _, r := range all {
		if r.other != "" || r.attractors == unlabelled { // a sentence alone has no attractors
			rows = append(rows, r)
		}
	}
	if n := len(all) - len(rows); n > 0 {
		leftOut = fmt.Sprintf("skipped %d of %d pairs: neither form is the plural of the other", n, len(all))
	}
	return rows, leftOut, err
}

// readGold reads all pairs of a .text file and its .gold file, or of one file with the lines of both, separated by a tab.
func readGold(path string) ([]row, error) {
	if !strings.HasSuffix(path, textFile) {
		return readFile(path, parseBoth)
	}
	sentences, err := readFile(path, parseSentences)
	if err != nil {
		return nil, err
	}
	gold := strings.TrimSuffix(path, textFile) + goldFile
	return readFile(gold, func(name string, r io.Reader) ([]row, error) { return parseGold(name, r, sentences) })
}

// plainBrackets are the brackets of the agreement files, which do not spell them as the treebank does.
var plainBrackets = map[string]string{"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}

// eachSentence calls do with the sentences of a file, one per line, or of all books of a folder, tokenized like the pairs.
func eachSentence(path string, do func(words []string)) error {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		sentences, err := readFile(path, parseSentences)
		for _, words := range sentences {
			do(words)
		}
		return err
	}
	books, err := fs.Glob(os.DirFS(path), "*.txt")
	books = slices.DeleteFunc(books, func(name string) bool { return strings.HasPrefix(name, ".") }) // hidden files
	if err == nil && len(books) == 0 {
		err = fmt.Errorf("%s: the folder has no book (.txt)", path)
	}
	for _, book := range books {
		file := filepath.Join(path, book)
		text, err := textfile.Read(file, largestFile)
		if err != nil {
			return textfile.InFolder(file, err)
		}
		for _, words := range penn.Sentences(strings.ToValidUTF8(string(text), " ")) {
			for i, w := range words {
				words[i] = cmp.Or(plainBrackets[w], w)
			}
			do(words)
		}
	}
	return err
}

// parseSentences reads one sentence per line, without its line ending. Empty lines of a text are skipped.
func parseSentences(name string, r io.Reader) (sentences [][]string, err error) {
	err = eachLine(name, r, func(line string) error {
		line = strings.TrimSuffix(strings.TrimSpace(line), ending)
		if strings.TrimSpace(line) == "" {
			return nil
		}
		words, err := tokens(line)
		sentences = append(sentences, words)
		return err
	})
	return sentences, err
}

// parseBoth reads the lines of a .text file, each with the line of the .gold file behind a tab. A sentence alone has no pair.
func parseBoth(name string, r io.Reader) (rows []row, err error) {
	err = eachLine(name, r, func(line string) error {
		text, gold, paired := strings.Cut(line, "\t")
		words, err := tokens(strings.TrimSuffix(strings.TrimSpace(text), ending))
		if err != nil {
			return err
		}
		one := row{text: strings.Join(words, " "), attractors: unlabelled}
		if paired {
			if one, err = goldRow(words, gold); err != nil {
				return err
			}
		}
		rows = append(rows, one)
		return nil
	})
	return rows, err
}

// parseGold reads one line per sentence: the verb's index from 0, its right and its wrong form, and the number of attractors. Forms are
// lower-cased, in the sentence too. If neither form is the plural of the other, the row has no other form.
func parseGold(name string, r io.Reader, sentences [][]string) (rows []row, err error) {
	err = eachLine(name, r, func(line string) error {
		if len(rows) == len(sentences) {
			return fmt.Errorf("there are only %d sentences", len(sentences))
		}
		r, err := goldRow(sentences[len(rows)], line)
		rows = append(rows, r)
		return err
	})
	if err == nil && len(rows) < len(sentences) {
		err = fmt.Errorf("%s:%d: lines of %d sentences are missing", name, len(rows)+1, len(sentences)-len(rows))
	}
	return rows, err
}

// goldRow parses the line of a .gold file that belongs to a sentence.
func goldRow(words []string, line string) (r row, err error) {
	parts := strings.Split(strings.ToLower(line), "\t")
	if len(parts) != 4 {
		return r, fmt.Errorf("%d fields: want 4, place, right form, wrong form, attractors", len(parts))
	}
	at, err := strconv.Atoi(parts[0])
	if err != nil || at < 0 || at >= len(words) {
		return r, fmt.Errorf("the verb's place is %.40q: want a number from 0, the sentence has %d words", parts[0], len(words))
	}
	attractors, err := strconv.Atoi(parts[3])
	if err != nil || attractors < 0 {
		return r, fmt.Errorf("attractors are %.40q: want a number", parts[3])
	}
	right, wrong := parts[1], parts[2]
	if !strings.EqualFold(words[at], right) {
		return r, fmt.Errorf("the right form is %.40q, but word %d of the sentence is %.40q", right, at, words[at])
	}
	words = slices.Clone(words)
	words[at] = right
	r = row{text: strings.Join(words, " "), verb: at, attractors: attractors}
	if form, ok := pluralOf(right); ok && form == wrong {
		r.other = wrong
	} else if form, ok := pluralOf(wrong); ok && form == right {
		r.plural, r.other = true, wrong
	}
	return r, nil
}
