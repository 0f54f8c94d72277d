package main

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

const translateHelp = `translate reads one line of text after the other from the standard input and writes the translation
of each on a line, in the same order: beam search of width 4 with the authors' length penalty,
unless --beam and --alpha say otherwise. Lines that come fast are taken together, and those of
similar length are decoded together. It is decode for models that were trained on pairs of texts,
for whole files: an empty line gives an empty line.

A line that is too long or not UTF-8 is named on the standard error, its translation is an
empty line, and the exit code is 1 in the end. --max-source refuses lines of more subwords.`

// translateBatch is how many lines are sorted by their length at a time.
const translateBatch = 4 * maxLines

func newTranslate() *cobra.Command {
	var how pipeline.DecodeOptions
	backend := ""
	c := &cobra.Command{
		Use:   "translate RUN",
		Short: "Translate lines from the standard input",
		Long:  translateHelp,
		Example: `  ut translate runs/multi30k < test.en > test.de
  echo "A dog runs." | ut translate runs/multi30k-raw
  ut translate runs/news --beam 5 --alpha 1 < in > out && ut bleu out reference`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := how.Beam.Validate(); err != nil {
				return usageError{err}
			}
			if err := checkLengths(c, how.MaxLength); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := m.CanDecode(); err != nil {
					return err
				}
				return translateLines(c, m, how)
			})
		},
	}
	c.Flags().IntVar(&how.Beam.Width, "beam", 4, "`width` of beam search; 1 takes the most probable token each time")
	c.Flags().Float64Var(&how.Beam.Alpha, "alpha", defaultAlpha, "length penalty of beam search, 0 for none")
	c.Flags().IntVar(&how.MaxLength, "max-length", 0, "cut translations off after `N` tokens; 0: twice the source and 10 more, or four times and 50 more of a model of other pairs")
	c.Flags().IntVar(&how.MaxSource, "max-source", 1000, "refuse lines of more than `N` tokens")
	backendFlag(c, &backend)
	return c
}

// translateLines translates the standard input. Lines that come at once are gathered.
func translateLines(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions) error {
	lines, told, out := readLines(c.InOrStdin()), newComplaints(c), bufio.NewWriter(c.OutOrStdout())
	for {
		batch, end := lines.next(c.Context(), translateBatch)
		answers, err := translated(&told, m, batch, how)
		if err != nil {
			return err
		}
		for _, answer := range answers {
			_, _ = out.WriteString(answer + "\n") // Flush gives the error
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if end == io.EOF {
			return told.end()
		}
		if end != nil {
			return end
		}
	}
}

// translated gives an answer for every line: those of similar length are decoded together.
func translated(told *complaints, m *pipeline.Model, lines []input, how pipeline.DecodeOptions) ([]string, error) {
	type source struct {
		at, tokens int
	}
	var good []source
	answers := make([]string, len(lines))
	for i, line := range lines {
		told.lines++
		if line.err == nil && strings.TrimSpace(line.text) == "" {
			continue
		}
		in, err := m.Read(line.text)
		if err = cmp.Or(line.err, err); err == nil {
			err = how.Check(in)
		}
		if err != nil {
			told.complain(told.lines, err)
			continue
		}
		good = append(good, source{i, len(in.Source)})
	}
	slices.SortStableFunc(good, func(a, b source) int { return cmp.Compare(a.tokens, b.tokens) })
	for together := range slices.Chunk(good, maxLines) {
		texts := make([]string, len(together))
		for i, s := range together {
			texts[i] = lines[s.at].text
		}
		found, err := m.Decode(told.c.Context(), texts, how)
		if err != nil {
			return nil, err
		}
		for i, s := range together {
			if err := found[i].Err; err != nil {
				told.complain(told.lines-len(lines)+s.at+1, err)
			}
			answers[s.at] = found[i].Text
		}
	}
	return answers, nil
}
