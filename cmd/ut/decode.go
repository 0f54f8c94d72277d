package main

import (
	"io"

	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/babi"
)

const decodeHelp = `decode reads one source a line and writes one answer a line, in the same order, token by token as
the model chooses them (with --beam, when the answer is complete). Lines are taken together
where they come fast, and answered at once where they come slowly. Ctrl-C ends it.

A line that is empty, too long, or has tokens that the model was not trained with is named on the
standard error, and the next one is read. In a pipe its answer is an empty line, so that answers
stand where their sources do, and the exit code is 1 in the end. Where the vocabulary has a token
for unknown ones (tables), that is used, and said on the standard error.

Without --beam and --sample the most probable token is taken each time. With --sample the same
--seed gives the same answer to a line of the same number and content, whatever other lines there
are. Keys and values of what was read are kept, so a token costs one position's work; the kept
memory is go doc universal-transformer/decoding's to tell.

A model that answers a line with a class (agreement_classes, lambada_reading) writes the class, and
has nothing to search or to draw.

--exit-steps, --exit-threshold and --fixed-steps make the model, its encoder included, stop
earlier than it was trained to, or run on: faster or deeper answers of the same weights.`

func newDecode() *cobra.Command {
	var f answeringFlags
	backend := ""
	c := &cobra.Command{
		Use:   "decode RUN",
		Short: "Answer lines from the standard input",
		Long:  decodeHelp,
		Example: `  echo 31415 | ut decode runs/reverse
  ut decode runs/pairs --beam 4 < questions.txt > answers.txt
  ut decode runs/pairs --sample --temperature 0.7 --top-p 0.9 --seed 3 < questions.txt
  ut decode runs/pairs --sample --top-k 5 --max-length 100 < questions.txt
  ut decode runs/reverse --exit-steps 4 --exit-threshold 0.8 < questions.txt
  ut decode runs/reverse --fixed-steps 2 < questions.txt`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := m.Exit(f.exit); err != nil {
					return usageError{err}
				}
				if answersLines(m) {
					return classifyLines(c, m, f.DecodeOptions)
				}
				if err := m.CanDecode(); err != nil {
					return err
				}
				return decodeLines(c, m, f.DecodeOptions)
			})
		},
	}
	f.add(c)
	backendFlag(c, &backend)
	return c
}

// decodeLines answers the standard input.
func decodeLines(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions) error {
	lines, told := readLines(c.InOrStdin()), newComplaints(c)
	for {
		batch, err := lines.next(c.Context(), mostLines)
		if problem := decodeBatch(&told, m, batch, how); problem != nil {
			return problem
		}
		if err == io.EOF {
			return told.end()
		}
		if err != nil {
			return err
		}
	}
}

// decodeBatch answers lines that were read together: good ones that stand together at once, so that each has the number of its line.
func decodeBatch(told *complaints, m *pipeline.Model, batch []input, how pipeline.DecodeOptions) error {
	var good []string
	flush := func() error {
		how.First = int64(told.lines - len(good) + 1)
		err := m.Stream(told.c.Context(), told.c.OutOrStdout(), good, how)
		good = nil
		return err
	}
	for _, line := range batch {
		problem := understood(told, m, line, how)
		if problem == nil {
			good = append(good, line.text)
			told.lines++
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		told.lines++
		told.complain(told.lines, problem)
		if err := told.skip(); err != nil {
			return err
		}
	}
	return flush()
}

// understood tells why a line cannot be a source, and says how many of its tokens are unknown to the model.
func understood(told *complaints, m *pipeline.Model, line input, how pipeline.DecodeOptions) error {
	if line.err != nil {
		return line.err
	}
	in, err := m.Read(line.text)
	if err != nil {
		return err
	}
	switch unknown := len(in.Unknown); {
	case unknown == 1:
		told.c.PrintErrf("ut: line %d: 1 unknown token is read as <unknown>\n", told.lines+1)
	case unknown > 1:
		told.c.PrintErrf("ut: line %d: %d unknown tokens are read as <unknown>\n", told.lines+1, unknown)
	}
	return how.Check(in)
}

// answersLines tells whether a model answers a line with a class. What answers stories is ut answer's.
func answersLines(m *pipeline.Model) bool {
	_, stories := m.Run.Task.Value.(babi.Babi)
	return m.Run.Task.Value.Kind() == task.Classification && !stories
}

// classifyLines answers the standard input with classes.
func classifyLines(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions) error {
	if how.Sampling != (decoding.Sampling{}) || how.Beam.Width > 0 {
		return usagef("%s answers with a class: leave out --beam and --sample", m.Dir())
	}
	lines, told := readLines(c.InOrStdin()), newComplaints(c)
	for {
		batch, err := lines.next(c.Context(), mostLines)
		for _, line := range batch {
			problem := understood(&told, m, line, how)
			var a *pipeline.Classification
			if problem == nil {
				a, problem = m.Classify(c.Context(), line.text)
			}
			if c.Context().Err() != nil {
				return c.Context().Err()
			}
			told.lines++
			if problem != nil {
				told.complain(told.lines, problem)
				if err := told.skip(); err != nil {
					return err
				}
				continue
			}
			if _, err := io.WriteString(c.OutOrStdout(), a.Answer+"\n"); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return told.end()
		}
		if err != nil {
			return err
		}
	}
}
