package tags

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A reader reads sentences.
type reader struct {
	config Tags
	v      task.Vocabularies
}

// Read splits a line into words.
func (r reader) Read(line string) (in task.Input, err error) {
	if in.Labels, err = vocab.Whitespace.Split(line); err != nil {
		return in, err
	}
	if len(in.Labels) == 0 {
		return in, errors.New("the sentence is empty")
	}
	in.Source = r.config.encode(r.v.Source, in.Labels)
	for _, word := range in.Labels {
		if !known(r.v.Source, word) {
			in.Unknown = append(in.Unknown, word)
		}
	}
	return in, nil
}

// Target returns the classes of tags that are separated by spaces.
func (r reader) Target(line string) ([]vocab.ID, error) {
	return r.v.Target.Encode(strings.Fields(line))
}

// maxWords is the maximum length of a sentence of a file to evaluate on, unless that of training is higher.
const maxWords = 10_000

// File reads a file with the columns of the configuration. Files that do not have them, but two columns without a header, are also read:
// the model knows their first tag.
func (r reader) File(path string) ([]task.Example, []string, error) {
	c := Tags{WordColumn: r.config.WordColumn, TagColumn: r.config.TagColumn, Layout: r.config.ForOther(), Affixes: r.config.Affixes, MaxLength: max(maxWords, r.config.MaxLength)}
	sentences, report, err := c.readFile(path)
	var missing *tabular.ColumnError
	if errors.As(err, &missing) && missing.Fields == 2 {
		c.WordColumn, c.TagColumn = "", ""
		var problem error
		sentences, report, problem = c.readFile(path)
		if problem == nil && (report.HasHeader() || known(r.v.Target, sentences[0].origin.tags[0])) {
			err = nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	unknown, tags := tabular.UnknownTokens{}, tabular.UnknownTokens{}
	examples := make([]task.Example, len(sentences))
	for i, s := range sentences {
		examples[i] = c.example(r.v, s, &unknown, &tags)
	}
	notes := append(strings.Split(report.String(), "\n"), unknown.Lines("sentences")...)
	notes = append(notes, tabular.RepeatedNote(sentences, r.config.trained(), hashOf, "sentences")...)
	if tags.Count > 0 {
		notes = append(notes, fmt.Sprintf("%s a tag that the model does not know, among them %q: counted as wrong", quantity.Of(tags.Count, "word has", "words have"), tags.Tokens))
	}
	return examples, notes, nil
}
