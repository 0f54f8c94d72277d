package agreement

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/task"
)

// Verbs ranks verb forms, the measure of the paper's table 2: a language model of whole sentences reads the words before a verb, and
// should assign the actual verb a higher probability than its other form.
//
// The file is the authors' table of dependencies, agr_50_mostcommon_10K.tsv.gz. By a hash of the words before the verb, 9 % are for
// training, 1 % for validation and 90 % for testing. The test includes all rows; rows in which some nouns between subject and verb
// are not attractors count in the total only.
type Verbs struct {
	Path     string `json:"path" file:"any"` // tab-separated with a header; may be compressed by gzip or xz
	MinCount int    `json:"min_count"`       // training words that occur less often become <unknown>; 0 means 1
}

// longestSentence is the largest number of tokens of a sentence, as in the authors' code.
const longestSentence = 50

// Kind returns task.LanguageModeling.
func (Verbs) Kind() task.Kind { return task.LanguageModeling }

// String names the task.
func (Verbs) String() string { return "agreement, ranking of verb forms" }

// Validate returns an error that names the first missing or invalid field.
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
	return &Measure{coding: coding{form{whole: true}, v}}
}

// Reader reads prompts, and sentences to score; files are tables like that of Path.
func (Verbs) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, FileOf: coding{form{whole: true}, v}.file(func(path string) ([]row, string, error) {
		all, err := readFile(path, parseDependencies)
		return all.rows, all.leftOut(), err
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
	d.notes = append(d.notes, all.leftOut())
	return d, nil
}

// dependencies holds the usable rows of the authors' file and counts the others.
type dependencies struct {
	rows                      []row
	long, replaced, misplaced int
}

func (d dependencies) leftOut() string {
	return fmt.Sprintf("skipped: %d sentences of more than %d tokens, %d whose verb is replaced by its tag, %d whose verb is not at the position given or has no regular other form",
		d.long, longestSentence, d.replaced, d.misplaced)
}

// fields are the names of the columns that are read.
var fields = []string{"sentence", "verb", "verb_pos", "verb_index", "n_intervening", "n_diff_intervening"}

// parseDependencies reads a table with a header, plain or compressed.
func parseDependencies(name string, r io.Reader) (d dependencies, err error) {
	r, _, err = archive.Decompress(bufio.NewReader(r))
	if err != nil {
		return d, fmt.Errorf("%s: %w", name, errCutShort)
	}
	var at map[string]int
	columns := 0
	err = eachLine(name, r, func(line string) (err error) {
		record := split(line)
		switch {
		case at == nil:
			columns = len(record)
			at, err = header(record)
			return err
		case line == "":
			return nil
		case len(record) != columns:
			return fmt.Errorf("%d fields: the header has %d", len(record), columns)
		}
		return d.add(record, at)
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s: %w", name, errCutShort)
	}
	return d, err
}

var errCutShort = errors.New("the compressed file is cut short: download it again")

// split splits a line at its tabs. Quotes around a field are removed, and doubled quotes inside it become single ones, as in CSV files;
// other quotes are text.
func split(line string) []string {
	record := strings.Split(line, "\t")
	for i, field := range record {
		if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
			record[i] = strings.ReplaceAll(field[1:len(field)-1], `""`, `"`)
		}
	}
	return record
}

// header returns the index of each field.
func header(names []string) (at map[string]int, err error) {
	at = map[string]int{}
	for _, field := range fields {
		i := slices.Index(names, field)
		if i < 0 {
			return nil, fmt.Errorf("the header has no field %s", field)
		}
		at[field] = i
	}
	return at, nil
}

// numbersOf parses the last three fields.
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

// add adds a row.
func (d *dependencies) add(record []string, at map[string]int) error {
	numbers, err := numbersOf(record, at)
	if err != nil {
		return err
	}
	index, between, attractors := numbers[0], numbers[1], numbers[2]
	verb, tag, sentence := strings.Clone(record[at["verb"]]), record[at["verb_pos"]], record[at["sentence"]]
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
	r := row{text: strings.Join(words, " "), verb: index - 1, plural: tag == plural, attractors: unlabelled, between: between, differ: attractors}
	if attractors == between {
		r.attractors, r.between, r.differ = attractors, 0, 0
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
