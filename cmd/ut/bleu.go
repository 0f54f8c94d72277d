package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/bleu"
	"universal-transformer/internal/archive"
	"universal-transformer/internal/textfile"
)

// bleuFlags holds the flags of ut bleu.
type bleuFlags struct {
	bleu   bleu.Config
	chrF   bleu.ChrF
	isChrF bool
	asJSON bool

	baseline string // file of another system's translations, to compare with; "": none
	test     bleu.Resampling
}

// scoredBLEU is the JSON of bleu; with --chrf it is a bleu.ChrFScore.
type scoredBLEU struct {
	Name string `json:"name"`
	bleu.Score
}

const bleuHelp = `bleu scores the translations in the file HYP ("-" for the standard input) against one or several
references, one file each: line i of every file translates the same sentence. Scores, options and
the signature are those of sacreBLEU 2.6.0; the version in the signature is the sacreBLEU release
whose scores are reproduced. Lines end at U+000A; white space at the end of a line is ignored, a
byte order mark is not. Files may be compressed (.gz).

Tokenizers (--tokenize):
  13a    as in mteval-v13a, for Western languages; this is what is usually reported
  intl   as in mteval-v14, with the punctuation of all scripts
  none   split at white space only, for text that is already tokenized
  char   characters

Smoothing (--smooth), for n-gram orders without a match:
  exp    counts half a match, a quarter for the second such order, and so on
  floor  counts --smooth-value matches (default 0.1)
  add-k  adds --smooth-value (default 1) to matches and totals of all orders but the first
  none   no smoothing: the score is 0

--paired BASE compares HYP with the translations of another system, BASE, by paired bootstrap
resampling (Koehn, 2004). Resamples, means, intervals and p are those of sacreBLEU's --paired-bs:
p is the probability of so large a difference if both systems were equally good; below 0.05, the
difference is usually called significant.

--chrf computes chrF2 over character n-grams of orders 1 to 6; with --word-order 2, chrF2++.

With --json: an object with the fields
  name               BLEU, or chrF2 and a plus for every word order
  score              0..100
  signature          the settings, in sacreBLEU's form
and, of BLEU only,
  counts             matching n-grams of orders 1 to 4, including what add-k adds
  totals             n-grams of HYP of orders 1 to 4, including what add-k adds
  precisions         in percent, after smoothing
  brevity_penalty    factor for a HYP that is shorter than the references
  hypothesis_length  tokens of HYP
  reference_length   tokens of the references closest in length`

func newBleu() *cobra.Command {
	var f bleuFlags
	c := &cobra.Command{
		Use:   "bleu HYP REF...",
		Short: "Score translations: BLEU and chrF as sacreBLEU computes them",
		Long:  bleuHelp,
		Example: `  ut bleu translated.de test.de
  ut bleu translated.de first.de second.de --json
  ut decode runs/pairs < test.en | ut bleu - test.de --lowercase
  ut bleu tokenized.de test.tok.de --tokenize none
  ut bleu translated.de test.de --paired baseline.de
  ut bleu translated.de test.de --chrf --word-order 2`,
		Args: hypothesisAndReferences,
		RunE: prompt(sayingTime(func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return f.run(c, args[0], args[1:])
		})),
	}
	c.Flags().TextVar(&f.bleu.Tokenizer, "tokenize", bleu.V13a, "`tokenizer` of BLEU: 13a, intl, none or char")
	c.Flags().BoolVar(&f.bleu.Lowercase, "lowercase", false, "lower-case everything first")
	c.Flags().TextVar(&f.bleu.Smoothing, "smooth", bleu.Exponential, "`smoothing` of BLEU: exp, floor, add-k or none")
	c.Flags().Float64Var(&f.bleu.SmoothingValue, "smooth-value", 0, "`value` of floor (default 0.1) or add-k (default 1)")
	c.Flags().BoolVar(&f.isChrF, "chrf", false, "compute chrF instead of BLEU")
	c.Flags().IntVar(&f.chrF.WordOrder, "word-order", 0, "with --chrf: longest n-gram of `words`, 2 for chrF++")
	c.Flags().StringVar(&f.baseline, "paired", "", "`file` of another system's translations to compare with by a bootstrap test")
	standardFlag(c, "paired")
	c.Flags().IntVar(&f.test.Samples, "samples", bleu.DefaultSamples, "with --paired: `number` of resamples")
	c.Flags().Uint32Var(&f.test.Seed, "seed", bleu.DefaultSeed, "with --paired: `number` that the resamples come from")
	jsonFlag(c, &f.asJSON)
	return c
}

// hypothesisAndReferences requires at least two arguments. Only the first may be the standard input.
func hypothesisAndReferences(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return arguments("HYP", "REF")(c, args)
	}
	for _, name := range args[1:] {
		if name == "-" {
			return errors.New("REF is -: only HYP can be the standard input")
		}
	}
	if base, err := c.Flags().GetString("paired"); err == nil && base == "-" {
		return errors.New("--paired is -: only HYP can be the standard input")
	}
	return nil
}

// check rejects combinations of flags that contradict each other.
func (f *bleuFlags) check(c *cobra.Command) error {
	if f.baseline == "" && (c.Flags().Changed("samples") || c.Flags().Changed("seed")) {
		return usagef("--samples and --seed apply to a comparison only: add --paired BASE")
	}
	if n := f.test.Samples; n < 1 || n > bleu.MaxSamples { // not 0, which Validate takes for the default
		return usagef("--samples is %d: it must be from 1 to %d", n, bleu.MaxSamples)
	}
	if f.isChrF {
		for _, name := range []string{"tokenize", "smooth", "smooth-value", "paired"} {
			if c.Flags().Changed(name) {
				return usagef("--%s and --chrf are both given: it applies to BLEU only", name)
			}
		}
	} else if c.Flags().Changed("word-order") {
		return usagef("--word-order applies to chrF only: add --chrf")
	}
	if c.Flags().Changed("smooth-value") && f.bleu.SmoothingValue == 0 {
		return usagef("--smooth-value is 0: it must be a positive number; --smooth none does not smooth")
	}
	f.chrF.Lowercase = f.bleu.Lowercase
	if err := f.bleu.Validate(); err != nil { // parsing the flags has validated the other fields
		return usagef("--smooth-value%s", strings.TrimPrefix(err.Error(), "smoothing value"))
	}
	if err := f.chrF.Validate(); err != nil {
		return usagef("--word-order%s", strings.TrimPrefix(err.Error(), "word order"))
	}
	return nil
}

func (f *bleuFlags) run(c *cobra.Command, hypothesis string, references []string) error {
	hypotheses, err := readText(c, "HYP", hypothesis)
	if err != nil {
		return err
	}
	texts := make([][]string, len(references))
	for i, name := range references {
		if texts[i], err = readText(c, "REF", name); err != nil {
			return err
		}
		if len(texts[i]) != len(hypotheses) {
			return fmt.Errorf("%s has %d lines, %s has %d: line i must translate line i",
				name, len(texts[i]), textName(hypothesis), len(hypotheses))
		}
	}
	if f.baseline != "" {
		return f.compare(c, hypotheses, texts)
	}
	if f.isChrF {
		score, err := f.chrF.Corpus(hypotheses, texts)
		return f.print(c.OutOrStdout(), score, score, err)
	}
	score, err := f.bleu.Corpus(hypotheses, texts)
	return f.print(c.OutOrStdout(), score, scoredBLEU{"BLEU", score}, err)
}

// compare compares the hypotheses with the baseline's.
func (f *bleuFlags) compare(c *cobra.Command, hypotheses []string, references [][]string) error {
	baseline, err := readText(c, "--paired", f.baseline)
	if err != nil {
		return err
	}
	if len(baseline) != len(hypotheses) {
		return fmt.Errorf("%s has %d lines, the hypotheses %d: line i must translate line i", f.baseline, len(baseline), len(hypotheses))
	}
	result, err := f.bleu.Compare(baseline, hypotheses, references, f.test)
	return f.print(c.OutOrStdout(), paired(result), result, err)
}

// paired is a comparison as text.
type paired bleu.Comparison

func (p paired) String() string {
	test := fmt.Sprintf("difference %+.2f, p = %.4f", p.System.Value-p.Baseline.Value, p.P)
	if p.System.Value == p.Baseline.Value {
		test = "no difference"
	}
	return fmt.Sprintf("%s|bs:%d|seed:%d\nbaseline  %6.2f  (%.2f ± %.2f)\nHYP       %6.2f  (%.2f ± %.2f)  %s",
		p.Baseline.Signature, p.Samples, p.Seed, p.Baseline.Value, p.Baseline.Mean, p.Baseline.HalfWidth,
		p.System.Value, p.System.Mean, p.System.HalfWidth, test)
}

// print writes a score as a line or as JSON, unless err is set.
func (f *bleuFlags) print(w io.Writer, line fmt.Stringer, object any, err error) error {
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(w, object)
	}
	_, err = fmt.Fprintln(w, line)
	return err
}

// readText reads the lines of a file that an argument or a flag names, or of the standard input if name is "-".
func readText(c *cobra.Command, argument, name string) ([]string, error) {
	file := io.NopCloser(c.InOrStdin())
	if name != "-" {
		var err error
		if file, err = new(archive.Archive).Open(name); err != nil {
			return nil, missingFile(err, argument, "a file with a sentence on each line")
		}
	}
	defer file.Close()
	text, err := readAll(c.Context(), file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", textName(name), err)
	}
	lines, err := bleu.Lines(string(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", textName(name), err)
	case len(lines) == 0:
		return nil, fmt.Errorf("%s is empty: there is nothing to score", textName(name))
	}
	return lines, nil
}

// textName is the name of a file in error messages.
func textName(name string) string {
	if name == "-" {
		return "the standard input"
	}
	return name
}

// readAll reads everything, including a byte order mark. It returns early if ctx is cancelled.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(textfile.NewReaderWithMark(r, textfile.MaxSize))
		done <- result{text, err}
	}()
	select {
	case all := <-done:
		return all.text, all.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
