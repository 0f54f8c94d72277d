// Package lambada is LAMBADA (Paperno et al., "The LAMBADA dataset: Word prediction requiring a broad discourse context", 2016), section
// 3.3 of the paper: predicting the last word of a passage, which people can guess from the passage but not from its last sentence alone.
//
//	... tony went to the restroom to freshen up . `` where is everybody ? '' he asked , and got up to look for  ->  tony
//
// There are two tasks. [Language] is a language model of novels that predicts the word. [Reading] is reading comprehension (Chu et al.,
// "Broad Context Language Modeling as Reading Comprehension", 2017): all sentences but the last are the context, the last one without its
// last word is the question, and the answer is a word of the context.
//
// LAMBADA's passages are not used for training, unless [Reading.Annotated] is set, and the vocabulary is that of the training text alone.
// The passages exist in two versions, plain text and JSON lines, which are named and never mixed: results on the two are not comparable.
package lambada

import (
	"errors"
	"fmt"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// A Version is an edition of the passages.
type Version string

// The versions.
const (
	Plain  Version = "plain"  // the authors' edition: lower case, tokenized as in the Penn Treebank
	OpenAI Version = "openai" // JSON lines with the printed case, quotes and line breaks; read in lower case and tokenized as the other
)

// Validate returns an error for an unknown version.
func (v Version) Validate() error {
	if v != Plain && v != OpenAI {
		return fmt.Errorf("version is %q: it must be one of %s, %s", string(v), Plain, OpenAI)
	}
	return nil
}

// Data specifies the passages, the training text and the vocabulary.
type Data struct {
	Path       string  `json:"path" file:"any"`                               // the folder with the passages: the authors' archive, unpacked
	Version    Version `json:"version"`                                       // "plain" or "openai"
	Prose      string  `json:"prose,omitempty" file:"name"`                   // a folder of books to train on, .txt files; if empty, the authors' novels in Path
	KeptOut    string  `json:"kept_out,omitempty" file:"name" inside:"Prose"` // a book of Prose that is not trained on; its passages are the control set
	MinCount   int     `json:"min_count"`                                     // training words that occur less often are unknown; 0 means 1
	Vocabulary int     `json:"vocabulary"`                                    // number of most frequent words that are known; 0 means all
}

// Validate returns an error that names the first missing or invalid field.
func (d Data) Validate() error {
	switch {
	case d.Path == "":
		return &task.MissingDataError{Set: "lambada", Err: errors.New("path is empty: name the folder with LAMBADA's passages")}
	case d.KeptOut != "" && d.Prose == "":
		return fmt.Errorf("kept_out is %q, but prose is empty: name the folder of books that has it", d.KeptOut)
	case d.MinCount < 0:
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", d.MinCount)
	case d.Vocabulary < 0:
		return fmt.Errorf("vocabulary is %d: it must be positive, or 0 for all words", d.Vocabulary)
	}
	return d.Version.Validate()
}

// Language is the language model: it is trained on segments of the training text that begin at sentences, and reads passages up to their
// last word. With subwords, every word can be predicted, and a last word's probability is the product of those of its subwords.
type Language struct {
	Data
	Length     int  `json:"length"`             // tokens of a segment; 0 means 128
	InSubwords bool `json:"subwords,omitempty"` // tokens are subwords, not words
	subword.Choice
}

// Reading is reading comprehension. It is trained on passages of the training text in the shape of LAMBADA's: a sentence up to a content
// word that also occurs in the 50 to 150 tokens of context before the sentence, and is the answer. [Task] describes how out-of-vocabulary
// words are handled.
type Reading struct {
	Data
	LastOnly bool    `json:"last_only"` // train only on answers that are last words of sentences, as in LAMBADA: far fewer passages
	Hidden   float64 `json:"hidden"`    // share of the content words of a training passage that are read as unknown words
	// Withheld leaves out training passages whose last sentence gives the answer away: it contains the answer already, or the answer
	// follows the word before it in at least a fiftieth of that word's other occurrences in the training text. LAMBADA's passages were
	// filtered similarly, by language models and by people.
	Withheld bool `json:"withheld,omitzero"`
	// Annotated is the fraction of training passages taken from the development set, whose answers were verified by people. A tenth of
	// that set is not trained on and remains the development set. 0, as in the paper, trains on nothing of LAMBADA.
	Annotated float64 `json:"annotated,omitzero"`
}

const defaultLength = 128

// Validate returns an error that names the first missing or invalid field.
func (c Language) Validate() error {
	switch {
	case c.Length != 0 && c.Length < 2:
		return fmt.Errorf("length is %d: it must be at least 2, or 0 for %d", c.Length, defaultLength)
	case !c.InSubwords && c.TokenizerFile != "":
		return fmt.Errorf("tokenizer_file is %q, but tokens are words: set subwords to true", c.TokenizerFile)
	case !c.InSubwords && c.TokenizerSize != 0:
		return fmt.Errorf("tokenizer_size is %d, but tokens are words: set subwords to true", c.TokenizerSize)
	case c.InSubwords && c.MinCount > 1:
		return fmt.Errorf("min_count is %d, but every word can be written in subwords: set it to 0", c.MinCount)
	case c.InSubwords && c.Vocabulary > 0:
		return fmt.Errorf("vocabulary is %d, but tokens are subwords: set it to 0, and tokenizer_size instead", c.Vocabulary)
	}
	if c.InSubwords {
		if err := c.Check(vocab.Subwords); err != nil {
			return err
		}
	}
	return c.Data.Validate()
}

// Subwords returns the number of subwords; 0 if only the data tell.
func (c Language) Subwords() int { return c.TokenizerSize }

// Validate returns an error that names the first missing or invalid field.
func (c Reading) Validate() error {
	if !(c.Hidden >= 0 && c.Hidden < 1) {
		return fmt.Errorf("hidden is %v: it must be a share, at least 0 and below 1", c.Hidden)
	}
	if !(c.Annotated >= 0 && c.Annotated <= 1) {
		return fmt.Errorf("annotated is %v: it must be a share, from 0 to 1", c.Annotated)
	}
	if c.Annotated > 0 && c.Version == OpenAI {
		return fmt.Errorf("annotated is %v: the version %s has no development set to learn from; set it to 0, or choose %s", c.Annotated, OpenAI, Plain)
	}
	return c.Data.Validate()
}

// Kind returns task.LanguageModeling.
func (Language) Kind() task.Kind { return task.LanguageModeling }

// Kind returns task.Classification: the classes are the words.
func (Reading) Kind() task.Kind { return task.Classification }

// String names the version and the task.
func (c Language) String() string { return fmt.Sprintf("LAMBADA %s, language model", c.Version) }

// String names the version and the task.
func (c Reading) String() string { return fmt.Sprintf("LAMBADA %s, reading comprehension", c.Version) }

// Measure returns the measure of last words.
func (Language) Measure(v task.Vocabularies) task.Measure { return lastWord{coding{v}} }

// Measure returns the measure of answers.
func (Reading) Measure(v task.Vocabularies) task.Measure { return Answers{coding{v}} }

// Reader reads prompts, and texts to score; files are passages of the version.
func (c Language) Reader(v task.Vocabularies) task.Reader {
	var r task.Reader = task.LineReader{Vocabularies: v, Name: task.Prompt, Open: true, FileOf: coding{v}.file(c.Version, coding.text)}
	if v.Subwords != nil {
		r = spaced{r}
	}
	return c.Version.typed(r)
}

// Reader reads passages without their last word; files are whole passages of the version.
func (c Reading) Reader(v task.Vocabularies) task.Reader {
	return c.Version.typed(reader{coding{v}, c.Version})
}
