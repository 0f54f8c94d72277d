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

const translateHelp = `translate reads one text per line from the standard input and writes one translation per line, in
the same order. It decodes by beam search of width 4 with the authors' length penalty; --beam and
--alpha change that. Lines that arrive quickly are decoded in batches of similar length, so
translate is faster than decode for whole files. The translation of an empty line is an empty line.

A line that is too long or not UTF-8 is reported on standard error, its translation is an empty
line, and the exit code is 1 at the end. --max-source rejects lines of more tokens. Tokens outside
the vocabulary are read as <unknown>, with a message on standard error.

` + beamHelp + "\n\n" + lengthHelp + "\n\n" + exitHelp + "\n\n" + answerFieldsHelp

// translateBatch is the number of lines that are sorted by length at a time.
const translateBatch = 4 * maxLines

func newTranslate() *cobra.Command {
	var how pipeline.DecodeOptions
	var exit exitFlags
	var form structuredFlags
	backend := ""
	c := &cobra.Command{
		Use:   "translate RUN",
		Short: "Translate lines from the standard input",
		Long:  translateHelp,
		Example: `  ut translate runs/multi30k < test.en > test.de
  echo "A dog runs." | ut translate runs/multi30k-raw
  ut translate runs/multi30k --n-best 4 < test.en
  ut translate runs/news --beam 5 --alpha 1 < in > out && ut bleu out reference`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(beamUsage(how.Beam), checkLengths(c, how.MaxLength), exit.check(c), form.check(c, &how)); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := cmp.Or(m.CanDecode(), exit.apply(m)); err != nil {
					return err
				}
				return translateLines(c, m, how, answerFormat{form, exit.exit.String()})
			})
		},
	}
	c.Flags().IntVar(&how.Beam.Width, "beam", 4, "`width` of beam search; 1 is greedy decoding")
	c.Flags().Float64Var(&how.Beam.Alpha, "alpha", defaultAlpha, "exponent of the length penalty ((5 + tokens) / 6)^alpha, 0 for none")
	c.Flags().IntVar(&how.MaxLength, "max-length", 0, "end translations after `N` tokens; 0: as described above")
	c.Flags().IntVar(&how.MaxSource, "max-source", 1000, "reject lines of more than `N` tokens")
	exit.add(c)
	form.add(c)
	backendFlag(c, &backend)
	return c
}

// translateLines translates the lines of the standard input, in batches.
func translateLines(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions, form answerFormat) error {
	lines, bad, out := readLines(c.InOrStdin()), newBadLines(c), bufio.NewWriter(c.OutOrStdout())
	for {
		batch, end := lines.next(c.Context(), translateBatch)
		answers, err := translated(&bad, m, batch, how, form)
		if err != nil {
			return err
		}
		for _, answer := range answers {
			_, _ = out.WriteString(answer) // Flush returns the error
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if end == io.EOF {
			return bad.end()
		}
		if end != nil {
			return end
		}
	}
}

// translated returns the formatted translations, one text per line. Lines of similar length are decoded together.
func translated(bad *badLines, m *pipeline.Model, lines []input, how pipeline.DecodeOptions, form answerFormat) ([]string, error) {
	type source struct {
		at, tokens int
	}
	var good []source
	answers := make([]string, len(lines))
	for i, line := range lines {
		bad.lines++
		if line.err == nil && strings.TrimSpace(line.text) == "" {
			answers[i] = form.answer(bad.lines, pipeline.Answer{Finished: true})
			continue
		}
		in, err := m.Read(line.text)
		if err = cmp.Or(line.err, err); err == nil {
			if err = how.Check(in); err == nil {
				bad.remark(bad.lines, m, in)
			}
		}
		if err != nil {
			bad.report(bad.lines, err)
			answers[i] = form.failed(bad.lines, err)
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
		found, err := m.Decode(bad.c.Context(), texts, how)
		if err != nil {
			return nil, err
		}
		for i, s := range together {
			number := bad.lines - len(lines) + s.at + 1
			answers[s.at] = form.answer(number, found[i])
			if err := found[i].Err; err != nil {
				bad.report(number, err)
				answers[s.at] = form.failed(number, err)
			} else {
				bad.ranked(form.nBest, 1+len(found[i].Others))
			}
		}
	}
	return answers, nil
}
