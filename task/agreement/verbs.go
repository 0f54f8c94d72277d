package agreement

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
	"universal-transformer/task"
)

// Verbs ranks verb forms, the measure of the paper's table 2: a language model of whole sentences reads the words before a verb, and
// the verb that stands there should be more probable than its other form.
//
// The file is the authors' table of dependencies, agr_50_mostcommon_10K.tsv.gz. By a hash of the words before the verb 9 % are
// trained on, 1 % validate, 90 % are the test. The test has all rows; those with nouns between subject and verb of which
// not all are attractors count in the total only.
type Verbs struct {
	Path     string `json:"path" file:"any"` // tab-separated with a header; may be compressed by gzip
	MinCount int    `json:"min_count"`       // rarer words of the training part become <unknown>; 0 means 1
}

// longestSentence is the most tokens that a sentence may have, as in the authors' code.
const longestSentence = 50

// Kind is task.LanguageModeling.
func (Verbs) Kind() task.Kind { return task.LanguageModeling }

// String says what is measured.
func (Verbs) String() string { return "agreement, ranking of verb forms" }

// Validate names the field that is missing or out of range.
func (c Verbs) Validate() error {
	switch {
	case c.Path == "":
		return errors.New("path is empty: name the authors' file agr_50_mostcommon_10K.tsv.gz")
	case c.MinCount < 0:
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", c.MinCount)
	}
	return nil
}

// Open reads the file.
func (c Verbs) Open() (task.Task, error) { return open(c, form{whole: true}, c.MinCount, 0, c.read) }

// Measure compares the probabilities of the two forms of a verb.
func (c Verbs) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{form{whole: true}, v}, Rows: testOf(c.read)}
}

// Reader reads prompts, and sentences to score; files are tables as Path is.
func (Verbs) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, FileOf: coding{form{whole: true}, v}.file(func(path string) ([]row, error) {
		all, err := readFile(path, parseDependencies)
		return all.rows, err
	})}
}

func (c Verbs) read() (d division, err error) {
	all, err := readFile(c.Path, parseDependencies)
	if err != nil {
		return d, err
	}
	for _, r := range all.rows {
		switch part := r.bucket(100); {
		case part < 9:
			d.training = append(d.training, r)
		case part == 9:
			d.validation = append(d.validation, r)
		default:
			d.test = append(d.test, r)
		}
	}
	d.notes = append(d.notes, fmt.Sprintf("left out: %d sentences of more than %d tokens, %d whose verb is replaced by its tag, %d whose verb does not stand where the row says or has no regular other form",
		all.long, longestSentence, all.replaced, all.misplaced))
	return d, nil
}

// dependencies are the rows of the authors' file, and how many were left out.
type dependencies struct {
	rows                      []row
	long, replaced, misplaced int
}

// The fields that are read, by their names in the header.
var fields = []string{"sentence", "verb", "verb_pos", "verb_index", "n_intervening", "n_diff_intervening"}

// parseDependencies reads a table with a header, plain or compressed. Fields are quoted as CSV files quote them.
func parseDependencies(name string, r io.Reader) (d dependencies, err error) {
	plain := bufio.NewReader(r)
	if magic, _ := plain.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(plain)
		if err != nil {
			return d, located(name, err)
		}
		plain = bufio.NewReader(z)
	}
	table := csv.NewReader(textfile.NewReader(plain, largestFile))
	table.Comma, table.ReuseRecord = '\t', true
	at, err := header(name, table)
	for err == nil {
		var record []string
		if record, err = table.Read(); err == nil {
			line, _ := table.FieldPos(0)
			if err = d.add(record, at); err != nil {
				return d, fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
	}
	if err == io.EOF {
		return d, nil
	}
	return d, located(name, err)
}

// header finds the fields.
func header(name string, table *csv.Reader) (at map[string]int, err error) {
	names, err := table.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s:1: the file is empty", name)
	}
	if err != nil {
		return nil, err
	}
	at = map[string]int{}
	for _, field := range fields {
		i := slices.Index(names, field)
		if i < 0 {
			return nil, fmt.Errorf("%s:1: the header has no field %s", name, field)
		}
		at[field] = i
	}
	return at, nil
}

// located puts file and line in front of an error that has none yet.
func located(name string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: %w", name, parse.Line, parse.Err)
	}
	if strings.HasPrefix(err.Error(), name+":") {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is compressed and cut short: get it again")
	}
	return fmt.Errorf("%s: %w", name, err)
}

// numbersOf reads the last three of the fields.
func numbersOf(record []string, at map[string]int) (numbers [3]int, err error) {
	for i, field := range fields[3:] {
		n, err := strconv.Atoi(record[at[field]])
		if err != nil || n < 0 {
			return numbers, fmt.Errorf("%s is %.40q: it must be a number", field, record[at[field]])
		}
		numbers[i] = n
	}
	return numbers, nil
}

// add reads a row.
func (d *dependencies) add(record []string, at map[string]int) error {
	numbers, err := numbersOf(record, at)
	if err != nil {
		return err
	}
	index, between, attractors := numbers[0], numbers[1], numbers[2]
	verb, tag, sentence := strings.Clone(record[at["verb"]]), record[at["verb_pos"]], record[at["sentence"]]
	if !utf8.ValidString(sentence) {
		return errors.New("the sentence is not valid UTF-8")
	}
	words, err := tokens(sentence)
	switch {
	case err != nil:
		return err
	case tag != singular && tag != plural:
		return fmt.Errorf("verb_pos is %.40q: it must be %s or %s", tag, singular, plural)
	case index < 2 || index > len(words):
		return fmt.Errorf("verb_index is %d: there are %d words, and the verb is not the first", index, len(words))
	case attractors > between:
		return fmt.Errorf("n_diff_intervening is %d, more than n_intervening, %d", attractors, between)
	}
	r := row{text: strings.Join(words, " "), verb: index - 1, plural: tag == plural, attractors: unlabelled}
	if attractors == between {
		r.attractors = attractors
	}
	var regular bool
	r.other, regular = counterpart(verb, r.plural)
	switch {
	case len(words) > longestSentence:
		d.long++
	case words[r.verb] == tag:
		d.replaced++
	case words[r.verb] != verb || !regular || r.other == verb:
		d.misplaced++
	default:
		d.rows = append(d.rows, r)
	}
	return nil
}
