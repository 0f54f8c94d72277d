package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/experiment"
)

func newDecode() *cobra.Command {
	var beam decoding.Beam
	backend := ""
	c := &cobra.Command{
		Use:   "decode RUN",
		Short: "Answer lines from the standard input",
		Long: `decode reads one source a line and writes one answer a line, in the same order. Lines are taken
together where they come fast, and answered at once where they come slowly.

A line that is empty, or has symbols that the model was not trained with, ends it with an error
that names the line; the lines before it are answered. Where the vocabulary has a symbol for
unknown ones (tables), that is used, and said on the standard error.`,
		Example: `  echo 31415 | ut decode runs/reverse
  ut decode runs/pairs --beam 4 < questions.txt > answers.txt`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkBeam(c, &beam); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(t *experiment.Trained) error {
				return decodeLines(c, t, beam)
			})
		},
	}
	beamFlags(c, &beam)
	backendFlag(c, &backend)
	return c
}

// decodeLines answers the standard input.
func decodeLines(c *cobra.Command, t *experiment.Trained, beam decoding.Beam) error {
	lines := readLines(c.InOrStdin())
	for number := 1; ; {
		batch, err := lines.next(c.Context())
		for i, line := range batch {
			unknown, problem := understood(t, line)
			if problem != nil {
				batch, err = batch[:i], fmt.Errorf("line %d: %w", number+i, problem)
				break
			}
			switch {
			case unknown == 1:
				c.PrintErrf("ut: line %d: 1 unknown symbol is read as <unknown>\n", number+i)
			case unknown > 1:
				c.PrintErrf("ut: line %d: %d unknown symbols are read as <unknown>\n", number+i, unknown)
			}
		}
		if err := answer(c.OutOrStdout(), t, batch, beam); err != nil {
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

// understood tells whether a line can be a source, and how many of its symbols are unknown to the model.
func understood(t *experiment.Trained, line string) (unknown int, err error) {
	_, unknown, err = t.Encode(line)
	return unknown, err
}

func answer(w io.Writer, t *experiment.Trained, lines []string, beam decoding.Beam) error {
	if len(lines) == 0 {
		return nil
	}
	answers, err := t.Decode(lines, beam)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if _, err := fmt.Fprintln(w, a); err != nil {
			return err
		}
	}
	return nil
}
