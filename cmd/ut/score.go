package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

const scoreHelp = `score reads one text per line and writes its log-probability (natural logarithm, summed over its
tokens), in the same order. For a language model a line is a text; for a model that generates
sequences it is a source and an answer, separated by a tab.

Further tab-separated texts on a line are alternatives: other answers to the same source, or other
texts. Their log-probabilities are tab-separated, too. Lines that arrive quickly are scored in
batches.

A line that cannot be scored is reported on standard error; in a pipe its place is an empty line or,
with --json, an object with the fields line and error, and the exit code is 1 at the end. Tokens
outside the vocabulary are read as <unknown> if the vocabulary has such a token, with a message on
standard error; this overstates the probability of the text.

With --json: an object a line with the fields
  line          its number, from 1
  alternatives  an array of objects with "text", "log_prob", and for each of its tokens "tokens", as
                the vocabulary spells them, and "log_probs"
  best          the number of the most probable alternative, from 1

` + exitHelp

// scored is the JSON of one line.
type scored struct {
	Line         int           `json:"line"`
	Alternatives []alternative `json:"alternatives"`
	Best         int           `json:"best"`
}

// alternative is one of the texts of a line.
type alternative struct {
	Text     string    `json:"text"`
	LogProb  float64   `json:"log_prob"`
	Tokens   []string  `json:"tokens"`
	LogProbs []float64 `json:"log_probs"`
}

func newScore() *cobra.Command {
	backend, asJSON, limit := "", false, 0
	var exit exitFlags
	c := &cobra.Command{
		Use:   "score RUN",
		Short: "Print the log-probabilities of lines from the standard input",
		Long:  scoreHelp,
		Example: `  echo 'the keys to the cabinet are here' | ut score runs/text
  printf 'the keys are here\tthe keys is here\n' | ut score runs/text
  printf '31415\t51413\n' | ut score runs/reverse --json`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(between(c, "max-source", pipeline.MaxTokens), exit.check(c)); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := m.CanScore(); err != nil {
					return err
				}
				if err := exit.apply(m); err != nil {
					return err
				}
				return scoreLines(c, m, asJSON, limit)
			})
		},
	}
	c.Flags().IntVar(&limit, "max-source", pipeline.DefaultMaxSource, "refuse sources and texts of more than `N` tokens")
	exit.add(c)
	jsonFlag(c, &asJSON)
	backendFlag(c, &backend)
	return c
}

// scoreLines scores the lines of the standard input.
func scoreLines(c *cobra.Command, m *pipeline.Model, asJSON bool, limit int) error {
	lines, bad := readLines(c.InOrStdin()), newBadLines(c)
	for {
		batch, end := lines.next(c.Context(), maxLines)
		found, err := scoreBatch(c.Context(), m, batch, limit)
		if err != nil {
			return err
		}
		for _, line := range found {
			bad.lines++
			text, problem := line.format(&bad, asJSON)
			if problem != nil {
				err = bad.refuse(problem, answerFormat{structuredFlags: structuredFlags{asJSON: asJSON}})
			} else {
				_, err = io.WriteString(c.OutOrStdout(), text+"\n")
			}
			if err != nil {
				return err
			}
		}
		if end == io.EOF {
			return bad.end()
		}
		if end != nil {
			return end
		}
	}
}

// A scoredLine holds the texts of a line with their probabilities, or an error.
type scoredLine struct {
	pairs  []pipeline.Pair
	scored []pipeline.Scored
	err    error

	unknown []string // tokens that the model does not know
}

// scoreBatch scores the texts of all lines together.
func scoreBatch(ctx context.Context, m *pipeline.Model, batch []input, limit int) ([]scoredLine, error) {
	lines := make([]scoredLine, len(batch))
	var all []pipeline.Pair
	for i, line := range batch {
		if lines[i].err = line.err; line.err == nil {
			lines[i].pairs, lines[i].err = alternatives(m, line.text)
		}
		all = append(all, lines[i].pairs...)
	}
	found, err := m.Score(ctx, all, limit)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		l := &lines[i]
		l.scored, found = found[:len(l.pairs)], found[len(l.pairs):]
		for k, s := range l.scored {
			if k == 0 {
				l.unknown = append(l.unknown, s.UnknownSource...)
			}
			l.unknown = append(l.unknown, s.Unknown...)
			if s.Err != nil && l.err == nil {
				l.err = fmt.Errorf("text %d: %w", k+1, s.Err)
			}
		}
	}
	return lines, nil
}

// format returns the output for a line.
func (l scoredLine) format(bad *badLines, asJSON bool) (string, error) {
	if l.err != nil {
		return "", l.err
	}
	result := scored{Line: bad.lines, Best: 1}
	sums := make([]string, len(l.scored))
	for i, s := range l.scored {
		a := alternative{Text: l.pairs[i].Target, Tokens: s.Tokens, LogProbs: s.LogProbs}
		for _, p := range s.LogProbs {
			a.LogProb += p
		}
		sums[i] = fmt.Sprintf("%.6f", a.LogProb)
		result.Alternatives = append(result.Alternatives, a)
		if a.LogProb > result.Alternatives[result.Best-1].LogProb {
			result.Best = i + 1
		}
	}
	if len(l.unknown) > 0 {
		bad.c.PrintErrf("ut: line %d: %s\n", bad.lines, unknownText(l.unknown))
	}
	if !asJSON {
		return strings.Join(sums, "\t"), nil
	}
	text, err := json.Marshal(result)
	return string(text), err
}

// alternatives returns the texts of a line, each with the common source.
func alternatives(m *pipeline.Model, line string) (pairs []pipeline.Pair, err error) {
	texts, source := strings.Split(line, "\t"), ""
	if m.Run.Task.Value.Kind() == task.Transduction {
		if len(texts) < 2 {
			return nil, fmt.Errorf("want a source and an answer, separated by a tab")
		}
		source, texts = texts[0], texts[1:]
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" && len(texts) > 1 {
			return nil, fmt.Errorf("alternative %d is empty", i+1)
		}
		pairs = append(pairs, pipeline.Pair{Source: source, Target: text})
	}
	return pairs, nil
}
