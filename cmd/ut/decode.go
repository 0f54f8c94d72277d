package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

const decodeHelp = `decode reads one source a line and writes one answer a line, in the same order, token by token as
the model chooses them (with --beam, when the answer is complete). Lines are taken together
where they come fast, and answered at once where they come slowly. Ctrl-C ends it.

A line that is empty, or has tokens that the model was not trained with, ends it with an error
that names the line; the lines before it are answered. Where the vocabulary has a token for
unknown ones (tables), that is used, and said on the standard error.

Without --beam and --sample the most probable token is taken each time. With --sample the same
--seed gives the same answer to a line of the same number and content, whatever other lines there
are. Keys and values of what was read are kept, so a token costs one position's work; the kept
memory is go doc universal-transformer/decoding's to tell.

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
	lines := readLines(c.InOrStdin())
	for number := 1; ; {
		batch, err := lines.next(c.Context())
		for i, line := range batch {
			unknown, problem := understood(m, line)
			if problem != nil {
				batch, err = batch[:i], fmt.Errorf("line %d: %w", number+i, problem)
				break
			}
			switch {
			case unknown == 1:
				c.PrintErrf("ut: line %d: 1 unknown token is read as <unknown>\n", number+i)
			case unknown > 1:
				c.PrintErrf("ut: line %d: %d unknown tokens are read as <unknown>\n", number+i, unknown)
			}
		}
		how.First = int64(number)
		if err := m.Stream(c.Context(), c.OutOrStdout(), batch, how); err != nil {
			return err
		}
		number += len(batch)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// understood tells whether a line can be a source, and how many of its tokens are unknown to the model.
func understood(m *pipeline.Model, line string) (unknown int, err error) {
	in, err := m.Read(line)
	return len(in.Unknown), err
}
