package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

const tagHelp = `tag reads one sentence per line, with spaces between the words, and writes the tag of each word,
separated by spaces, in the same order. Lines that arrive quickly are tagged in batches, others
immediately. It is for models that answer with a tag for each word, such as those of own-tags.

A line that is empty or too long is reported on standard error and skipped. In a pipe its answer is
an empty line, so that answers stay aligned with their sentences, and the exit code is 1 at the end.
Words that the model does not know are read as <unknown>, with a message on standard error.

With --json, each line is an object with the fields
  words    an array of objects with word, tag, probability (of the tag), and probabilities, an
           array of objects with tag and probability: all tags, the most probable one first
  spans    an array of objects with type, start (the number of the first word, from 1), end (the
           number of the last word) and text; empty if the tags mark no spans
  unknown  an array of the words that the model does not know
A line that is skipped is an object with the field "error".

` + exitHelp

func newTag() *cobra.Command {
	backend, asJSON := "", false
	var exit exitFlags
	var how pipeline.DecodeOptions
	c := &cobra.Command{
		Use:   "tag RUN",
		Short: "Write the tag of each word of the standard input",
		Long:  tagHelp,
		Example: `  echo 'Anna lives in Bonn' | ut tag runs/names
  ut tag runs/names --json < sentences.txt > tags.jsonl`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(between(c, "max-source", pipeline.MaxTokens), exit.check(c)); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := cmp.Or(m.CanTag(), exit.apply(m)); err != nil {
					return err
				}
				format := plainTags
				if asJSON {
					format = tagsJSON
				}
				return answerEachLine(c, m, how, asJSON, tagsBy(m, format))
			})
		},
	}
	c.Flags().IntVar(&how.MaxSource, "max-source", pipeline.DefaultMaxSource, "reject sentences of more than `N` words")
	exit.add(c)
	jsonFlag(c, &asJSON)
	backendFlag(c, &backend)
	return c
}

// tagsBy answers sentences with tags, formatted by format.
func tagsBy(m *pipeline.Model, format func(pipeline.Tagged) string) answerer {
	return formatted(m.Tag, func(a pipeline.Tagged) error { return a.Err }, format)
}

func plainTags(a pipeline.Tagged) string { return strings.Join(a.Tags, " ") }

// taggedJSON is a line of tag --json.
type taggedJSON struct {
	Words   []wordJSON `json:"words"`
	Spans   []spanJSON `json:"spans"`
	Unknown []string   `json:"unknown"`
}

type wordJSON struct {
	Word          string    `json:"word"`
	Tag           string    `json:"tag"`
	Probability   float64   `json:"probability"`
	Probabilities []tagJSON `json:"probabilities"`
}

type tagJSON struct {
	Tag         string  `json:"tag"`
	Probability float64 `json:"probability"`
}

type spanJSON struct {
	Type  string `json:"type"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

func tagsJSON(a pipeline.Tagged) string {
	words := a.Input.Labels
	line := taggedJSON{Spans: []spanJSON{}, Unknown: append([]string{}, a.Input.Unknown...)}
	for i, classes := range a.Classes {
		w := wordJSON{Word: words[i], Tag: classes[0].Name, Probability: classes[0].Probability}
		for _, c := range classes {
			w.Probabilities = append(w.Probabilities, tagJSON{c.Name, c.Probability})
		}
		line.Words = append(line.Words, w)
	}
	for _, s := range a.Spans {
		line.Spans = append(line.Spans, spanJSON{s.Type, s.Start + 1, s.End, strings.Join(words[s.Start:s.End], " ")})
	}
	return lineJSON(line)
}
