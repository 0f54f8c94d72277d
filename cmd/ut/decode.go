package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/babi"
)

const decodeHelp = `decode reads one source per line and writes one answer per line, in the same order. On a terminal,
answers are streamed token by token (with --beam, when they are complete); files and pipes get whole
lines. Lines that arrive quickly are decoded in batches, others immediately. Ctrl-C ends it.

A line that is empty, too long, or has tokens outside the vocabulary is reported on standard error
and skipped. In a pipe its answer is an empty line, so that answers stay aligned with their sources,
and the exit code is 1 at the end. If the vocabulary has an unknown token (tables), that is used
instead, with a message on standard error.

Without --beam and --sample, decoding is greedy. With --sample, the answer to a line depends only on
--seed, the line's number and its content, not on the other lines. With the KV cache, a token costs
the work of one position; go doc universal-transformer/decoding describes the memory it takes.

` + beamHelp + "\n\n" + lengthHelp + `

A model that answers with a class (labels, agreement_classes, lambada_reading) writes the class;
sampling and beam search do not apply. ut classify adds the probabilities.

` + exitHelp + "\n\n" + answerFieldsHelp

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
  ut decode runs/reverse --fixed-steps 2 < questions.txt
  ut decode runs/pairs --json --n-best 3 --exit-confidence 0.95 < questions.txt`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := f.exit.apply(m); err != nil {
					return err
				}
				if answersLines(m) {
					return decodeClasses(c, m, f)
				}
				if err := m.CanDecode(); err != nil {
					return err
				}
				return decodeLines(c, m, f.DecodeOptions, answerFormat{f.form, f.exit.exit.String()})
			})
		},
	}
	f.add(c)
	backendFlag(c, &backend)
	return c
}

// decodeClasses answers the lines of the standard input with a class each.
func decodeClasses(c *cobra.Command, m *pipeline.Model, f answeringFlags) error {
	if f.form.asJSON || f.form.nBest > 0 {
		return usagef("%s answers with a class: use ut classify --json", m.Dir())
	}
	if f.Sampling != (decoding.Sampling{}) || f.Beam.Width > 0 {
		return usagef("%s answers with a class: leave out --beam and --sample", m.Dir())
	}
	return answerEachLine(c, m, f.DecodeOptions, false, classesBy(m, className))
}

// decodeLines answers the lines of the standard input.
func decodeLines(c *cobra.Command, m *pipeline.Model, how pipeline.DecodeOptions, form answerFormat) error {
	lines, bad := readLines(c.InOrStdin()), newBadLines(c)
	for {
		batch, err := lines.next(c.Context(), maxLines)
		if problem := decodeBatch(&bad, m, batch, how, form); problem != nil {
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

// decodeBatch answers lines that were read together. Consecutive valid lines are decoded at once, so that each keeps its line number.
func decodeBatch(bad *badLines, m *pipeline.Model, batch []input, how pipeline.DecodeOptions, form answerFormat) error {
	var good []string
	flush := func() error {
		how.First = int64(bad.lines - len(good) + 1)
		if !form.plain() {
			whole := good
			good = nil
			return decodeWhole(bad, m, whole, how, form)
		}
		out := &answerLines{w: bad.c.OutOrStdout()}
		_, err := m.Stream(bad.c.Context(), out, good, how)
		good = nil
		var failed pipeline.LineErrors
		if !errors.As(err, &failed) {
			return errors.Join(err, out.end())
		}
		for _, line := range failed {
			bad.report(int(how.First)+line.Line-1, line.Err)
		}
		return nil
	}
	for _, line := range batch {
		problem := validLine(bad, m, line, how)
		if problem == nil {
			good = append(good, line.text)
			bad.lines++
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		bad.lines++
		if err := bad.refuse(problem, form); err != nil {
			return err
		}
	}
	return flush()
}

// answerLines writes answers as they come on a terminal, and whole lines elsewhere, where a part of an answer would look like an answer.
type answerLines struct {
	w    io.Writer
	part []byte // of the last line
}

func (a *answerLines) Write(text []byte) (int, error) {
	a.part = append(a.part, text...)
	whole := bytes.LastIndexByte(a.part, '\n') + 1
	now := a.part[:whole]
	if writesTerminal(a.w) {
		now = text
	}
	a.part = a.part[whole:]
	if len(now) == 0 {
		return len(text), nil
	}
	_, err := a.w.Write(now)
	return len(text), err
}

// end ends a line on a terminal that will not be completed.
func (a *answerLines) end() error {
	if len(a.part) == 0 || !writesTerminal(a.w) {
		return nil
	}
	_, err := io.WriteString(a.w, "\n")
	return err
}

// refuse reports the error of the last line and writes what stands for its answer.
func (p *badLines) refuse(problem error, form answerFormat) error {
	p.report(p.lines, problem)
	if form.plain() {
		return p.skip()
	}
	_, err := io.WriteString(p.c.OutOrStdout(), form.failed(p.lines, problem))
	return err
}

// decodeWhole writes the answers to consecutive lines once they are complete. The first line has the number how.First.
func decodeWhole(bad *badLines, m *pipeline.Model, lines []string, how pipeline.DecodeOptions, form answerFormat) error {
	answers, err := m.Decode(bad.c.Context(), lines, how)
	if err != nil {
		return err
	}
	for i, a := range answers {
		line := int(how.First) + i
		text := form.answer(line, a)
		if a.Err != nil {
			bad.report(line, a.Err)
			text = form.failed(line, a.Err)
		} else {
			bad.ranked(form.nBest, 1+len(a.Others))
		}
		if _, err := io.WriteString(bad.c.OutOrStdout(), text); err != nil {
			return err
		}
	}
	return nil
}

// validLine returns an error if a line cannot be a source. It reports tokens that the model does not know.
func validLine(bad *badLines, m *pipeline.Model, line input, how pipeline.DecodeOptions) error {
	if line.err != nil {
		return line.err
	}
	in, err := m.Read(line.text)
	if err != nil {
		return err
	}
	if err := how.Check(in); err != nil {
		return err
	}
	bad.remark(bad.lines+1, m, in)
	return nil
}

// answersLines reports whether a model answers a line with a class. Models that answer stories belong to ut answer.
func answersLines(m *pipeline.Model) bool {
	_, stories := m.Run.Task.Value.(babi.Babi)
	return m.Run.Task.Value.Kind() == task.Classification && !stories
}
