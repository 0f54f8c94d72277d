package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

const classifyHelp = `classify reads one text per line and writes its label and the label's probability, separated by a
tab, in the same order. Lines that arrive quickly are classified in batches, others immediately. It
is for models that answer with a class, such as those of own-labels.

A line that is empty or too long is reported on standard error and skipped. In a pipe its answer is
an empty line, so that answers stay aligned with their texts, and the exit code is 1 at the end.
Tokens outside the vocabulary are read as <unknown>, with a message on standard error; a model of
another task than labels may have no such token, and skips the line.

With --json, each line is an object with the fields
  label          the most probable label
  probability    its probability
  probabilities  an array of objects with label and probability: all labels, the most probable one
                 first
  unknown        an array of the tokens that the model does not know, which it reads as <unknown>
A line that is skipped is an object with the field "error".

` + exitHelp

func newClassify() *cobra.Command {
	backend, asJSON := "", false
	var exit exitFlags
	var how pipeline.DecodeOptions
	c := &cobra.Command{
		Use:   "classify RUN",
		Short: "Write the label of each line of the standard input, with its probability",
		Long:  classifyHelp,
		Example: `  echo 'a film to remember' | ut classify runs/reviews
  ut classify runs/reviews --json < texts.txt > labels.jsonl`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(between(c, "max-source", pipeline.MaxTokens), exit.check(c)); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := cmp.Or(m.CanClassify(), exit.apply(m)); err != nil {
					return err
				}
				if !answersLines(m) {
					return usagef("%s answers questions about stories: use ut answer", m.Dir())
				}
				if asJSON {
					return answerEachLine(c, m, how, true, classesBy(m, classJSON))
				}
				return answerEachLine(c, m, how, false, classesBy(m, classWithProbability))
			})
		},
	}
	c.Flags().IntVar(&how.MaxSource, "max-source", pipeline.DefaultMaxSource, "reject texts of more than `N` tokens")
	exit.add(c)
	jsonFlag(c, &asJSON)
	backendFlag(c, &backend)
	return c
}

// classesBy answers texts with classes, formatted by format.
func classesBy(m *pipeline.Model, format func(pipeline.Classified) string) answerer {
	return formatted(m.ClassifyAll, func(a pipeline.Classified) error { return a.Err }, format)
}

func className(a pipeline.Classified) string { return a.Classes[0].Name }

func classWithProbability(a pipeline.Classified) string {
	return fmt.Sprintf("%s\t%.4f", a.Classes[0].Name, a.Classes[0].Probability)
}

// classifiedJSON is a line of classify --json.
type classifiedJSON struct {
	Label         string      `json:"label"`
	Probability   float64     `json:"probability"`
	Probabilities []labelJSON `json:"probabilities"`
	Unknown       []string    `json:"unknown"`
}

type labelJSON struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

func classJSON(a pipeline.Classified) string {
	line := classifiedJSON{Label: a.Classes[0].Name, Probability: a.Classes[0].Probability, Unknown: append([]string{}, a.Input.Unknown...)}
	for _, c := range a.Classes {
		line.Probabilities = append(line.Probabilities, labelJSON{c.Name, c.Probability})
	}
	return lineJSON(line)
}
