package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

// answered is the line that answers a text, or the reason why there is none.
type answered struct {
	line string
	err  error
}

// An answerer answers texts, each with one line.
type answerer func(ctx context.Context, texts []string) ([]answered, error)

// formatted returns an answerer that formats what find finds, unless problem says why a text has no answer. validLine has checked the lengths
// of texts.
func formatted[T any](find func(ctx context.Context, texts []string, maxSource int) ([]T, error), problem func(T) error, format func(T) string) answerer {
	return func(ctx context.Context, texts []string) ([]answered, error) {
		found, err := find(ctx, texts, pipeline.MaxTokens)
		if err != nil {
			return nil, err
		}
		answers := make([]answered, len(found))
		for i, a := range found {
			if answers[i].err = problem(a); answers[i].err == nil {
				answers[i].line = format(a)
			}
		}
		return answers, nil
	}
}

// answerEachLine answers the lines of the standard input. The answer to a line that cannot be answered is an empty line or, as JSON, an
// object with the field error.
func answerEachLine(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions, asJSON bool, answer answerer) error {
	lines, bad := readLines(c.InOrStdin()), newBadLines(c)
	for {
		batch, err := lines.next(c.Context(), maxLines)
		if problem := answerBatch(&bad, m, batch, how, asJSON, answer); problem != nil {
			return problem
		}
		if err == io.EOF {
			return bad.end()
		}
		if err != nil {
			return err
		}
	}
}

// answerBatch answers lines that were read together.
func answerBatch(bad *badLines, m *pipeline.Model, batch []input, how pipeline.DecodeOptions, asJSON bool, answer answerer) error {
	problems, texts := make([]error, len(batch)), []string(nil)
	for i, line := range batch {
		problems[i] = validLine(bad, m, line, how)
		bad.lines++
		if problems[i] == nil {
			texts = append(texts, line.text)
		}
	}
	answers, err := answer(bad.c.Context(), texts)
	if err != nil {
		return err
	}
	for i, problem := range problems {
		a := answered{err: problem}
		if problem == nil {
			a, answers = answers[0], answers[1:]
		}
		if a.err != nil {
			bad.report(bad.lines-len(batch)+i+1, a.err)
			if asJSON {
				a.line = lineJSON(map[string]string{"error": oneLine(a.err)})
			} else if bad.byHand {
				continue
			}
		}
		if _, err := io.WriteString(bad.c.OutOrStdout(), a.line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// lineJSON returns a value as JSON on one line.
func lineJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and finite numbers marshal
	}
	return string(data)
}
