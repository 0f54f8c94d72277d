package lambada

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// A corpus is the training text as ids. Out-of-vocabulary words get ids beyond the vocabulary's size, so that they can be distinguished.
type corpus struct {
	known     *vocab.Vocabulary
	rare      []string   // words of the ids from known.Size() on
	ids       []vocab.ID // of all books
	sentences []int      // start of each sentence in ids; len(ids) at the end
	books     []int      // start of each book in sentences; len(sentences)-1 at the end

	pieces *subword.Pieces // of ids, if they are subwords
}

// word returns the spelling of an id.
func (c *corpus) word(id vocab.ID) string {
	if beyond := int(id) - c.known.Size(); beyond >= 0 {
		return c.rare[beyond]
	}
	return c.known.Token(id)
}

// words returns the words of a part of the text.
func (c *corpus) words(from, to int) []string {
	words := make([]string, to-from)
	for i := range words {
		words[i] = c.word(c.ids[from+i])
	}
	return words
}

// prose returns the training books, which are the authors' novels or the books of d.Prose except d.KeptOut, and the path of that one, "" if
// there is none.
func (d Data) prose() (files []string, kept string, err error) {
	folder := d.Prose
	if folder == "" {
		folder = filepath.Join(d.Path, Novels)
	}
	all, err := books(folder)
	if errors.Is(err, fs.ErrNotExist) && d.Prose == "" {
		return nil, "", fmt.Errorf("%s is missing: name a folder of books to learn from, as in task.prose=books", folder)
	}
	if err != nil {
		return nil, "", err
	}
	for _, path := range all {
		switch {
		case filepath.Base(path) != d.KeptOut:
			files = append(files, path)
		case kept != "":
			return nil, "", fmt.Errorf("%s and %s both have the name in kept_out: rename one of them", kept, path)
		default:
			kept = path
		}
	}
	switch {
	case d.KeptOut != "" && kept == "":
		return nil, "", fmt.Errorf("%s: the folder has no book %s, which kept_out names", folder, d.KeptOut)
	case len(files) == 0:
		return nil, "", fmt.Errorf("%s: the folder has no book (.txt)", folder)
	}
	return files, kept, nil
}

// books lists the .txt files of a folder and its subfolders, in the order of their paths. The folder may be a symbolic link.
func books(folder string) (files []string, err error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is a file: name a folder of books", folder)
		}
		return nil, err
	}
	root := folder + string(filepath.Separator) // without it, WalkDir does not follow a link
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".txt" && !strings.HasPrefix(entry.Name(), ".") {
			files = append(files, path)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

// readBook returns the sentences of a book. No word can have a reserved spelling: < and > are separate tokens.
func readBook(path string) ([][]string, error) {
	text, err := textfile.Read(path, largestFile)
	if err != nil {
		return nil, textfile.InFolder(path, err)
	}
	return penn.Sentences(strings.ToValidUTF8(string(text), " ")), nil // some scans contain invalid UTF-8
}

// readCorpus reads the training books. It checks that none contains a passage of LAMBADA, counts words, and encodes the books. Only one
// book at a time is held as text.
func (d Data) readCorpus(files []string, measured sets) (*corpus, error) {
	if err := checkNoneMeasured(files, measured); err != nil {
		return nil, err
	}
	c := &corpus{known: &vocab.Vocabulary{}}
	ids := map[string]vocab.ID{}
	for _, path := range files {
		sentences, err := readBook(path)
		if err != nil {
			return nil, err
		}
		c.addBook(sentences, ids)
	}
	c.end()
	if len(c.ids) == 0 {
		return nil, fmt.Errorf("%s has no words", filepath.Dir(files[0]))
	}
	known, err := d.vocabulary(c.counts())
	if err != nil {
		return nil, err
	}
	c.know(known)
	return c, nil
}

// addBook adds a book, with a new id for every word that has none.
func (c *corpus) addBook(sentences [][]string, ids map[string]vocab.ID) {
	c.books = append(c.books, len(c.sentences))
	for _, words := range sentences {
		c.sentences = append(c.sentences, len(c.ids))
		for _, w := range words {
			c.ids = append(c.ids, c.id(w, ids))
		}
	}
}

// end marks the end of the last book.
func (c *corpus) end() {
	c.books, c.sentences = append(c.books, len(c.sentences)), append(c.sentences, len(c.ids))
}

// counts returns how often each word occurs.
func (c *corpus) counts() map[string]int {
	of := make([]int, c.known.Size()+len(c.rare))
	for _, id := range c.ids {
		of[id]++
	}
	counts := make(map[string]int, len(of))
	for id, n := range of {
		if n > 0 {
			counts[c.word(vocab.ID(id))] = n
		}
	}
	return counts
}

// know gives the known words the ids of the vocabulary.
func (c *corpus) know(known *vocab.Vocabulary) {
	to, words, first := make([]vocab.ID, len(c.rare)), c.rare, vocab.ID(c.known.Size())
	c.known, c.rare = known, nil
	for i, word := range words {
		id, ok := known.ID(word)
		if !ok {
			id, c.rare = vocab.ID(known.Size()+len(c.rare)), append(c.rare, word)
		}
		to[i] = id
	}
	for i, id := range c.ids {
		c.ids[i] = to[id-first]
	}
}

// checkNoneMeasured returns an error if a book is a file of LAMBADA, or contains one of its passages as a line.
func checkNoneMeasured(files []string, measured sets) error {
	passages := texts(slices.Concat(measured.development, measured.test, measured.control))
	for _, path := range files {
		const fix = "name a folder that contains only books"
		if slices.Contains([]string{Development, Test, Control, WordList}, filepath.Base(path)) {
			return fmt.Errorf("%s is a file of LAMBADA, which must not be in the training text: %s", path, fix)
		}
		text, err := textfile.Read(path, largestFile)
		if err != nil {
			return textfile.InFolder(path, err)
		}
		at := 0
		for line := range strings.Lines(string(text)) {
			if at++; passages[strings.TrimRight(line, " \r\n")] {
				return fmt.Errorf("%s:%d: this line is a passage of LAMBADA, which must not be in the training text: %s", path, at, fix)
			}
		}
	}
	return nil
}

// id returns the id of a word, a new one if it has none yet.
func (c *corpus) id(word string, ids map[string]vocab.ID) vocab.ID {
	id, ok := ids[word]
	if !ok {
		word = strings.Clone(word) // do not keep the whole book in memory
		id = vocab.ID(c.known.Size() + len(c.rare))
		ids[word], c.rare = id, append(c.rare, word)
	}
	return id
}

// vocabulary returns the words of the books that are frequent enough, given how often each occurs; for LAMBADA's novels, those of its word
// list.
func (d Data) vocabulary(counts map[string]int) (*vocab.Vocabulary, error) {
	list := filepath.Join(d.Path, WordList)
	if _, err := os.Stat(list); err == nil && d.Prose == "" {
		words, err := readWordList(list, d.MinCount)
		if err != nil {
			return nil, err
		}
		return vocab.New(d.frequentWords(words), vocab.WithUnknown())
	}
	v, err := vocab.OfCounts(counts, d.MinCount, vocab.WithUnknown())
	if err != nil {
		return nil, err
	}
	return vocab.New(d.frequentWords(v.Tokens()), vocab.WithUnknown())
}

// frequentWords returns the most frequent words, up to the configured number.
func (d Data) frequentWords(words []string) []string {
	if d.Vocabulary > 0 && d.Vocabulary < len(words) {
		return words[:d.Vocabulary]
	}
	return words
}
