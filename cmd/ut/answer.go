package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
)

func newAnswer() *cobra.Command {
	backend, maxFacts := "", 3
	var exit exitFlags
	var form structuredFlags
	c := &cobra.Command{
		Use:   "answer RUN",
		Short: "Answer questions about stories from the standard input",
		Long: `answer reads a story, one sentence per line, and answers every question in it (a sentence that
ends with a question mark). It prints the answer with its probability, and the facts the question
attended to, with their share of the attention (the mean over heads and steps).

The story continues after a question. An empty line, or a line that starts with the number 1 as in
the bAbI files, begins a new one. Words that the model was not trained on are read as <unknown> and
reported on standard error; such an answer is a guess.

Unreadable lines, and stories without a question, are reported there too and skipped. In a pipe the
answer to such a question is an empty line, and the exit code is 1 at the end.

` + exitHelp + "\n\n" + storyFieldsHelp,
		Example: `  printf 'Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?\n' | ut answer runs/babi
  ut answer runs/babi < story.txt
  ut answer runs/babi --json --n-best 3 < story.txt`,
		Args: readsInput("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if maxFacts < 0 {
				return usagef("--facts is %d: it must not be negative", maxFacts)
			}
			if err := cmp.Or(exit.check(c), atLeastOne(c, "n-best")); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(m *pipeline.Model) error {
				if err := cmp.Or(m.CanClassify(), readsStories(m), exit.apply(m)); err != nil {
					return err
				}
				return answerStories(c, m, maxFacts, answerFormat{form, exit.exit.String()})
			})
		},
	}
	c.Flags().IntVar(&maxFacts, "facts", maxFacts, "`number` of facts to show, those with the most attention")
	exit.add(c)
	form.add(c)
	backendFlag(c, &backend)
	return c
}

// readsStories returns an error unless the model answers questions about stories: other texts have no facts and no question.
func readsStories(m *pipeline.Model) error {
	if m.Run.TaskName() == "babi" {
		return nil
	}
	return fmt.Errorf("%s answers no questions about stories: it was trained on %s: use ut classify", m.Dir(), m.Run.Task.Value)
}

// answerStories answers the questions in the standard input.
func answerStories(c *cobra.Command, m *pipeline.Model, maxFacts int, form answerFormat) error {
	s := story{badLines: newBadLines(c), m: m, maxFacts: maxFacts, form: form}
	if s.byHand {
		c.PrintErrln("type a story, one sentence per line, then a question; an empty line begins a new story; Ctrl-D ends")
	}
	lines := readLines(c.InOrStdin())
	for {
		batch, err := lines.next(c.Context(), maxLines)
		for _, line := range batch {
			s.lines++
			if err := s.line(line); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF && s.lines == 0:
			return fmt.Errorf("no story on the standard input: see ut answer --help")
		case err == io.EOF:
			s.begin()
			return s.end()
		case err != nil:
			return err
		}
	}
}

// story is the story read so far.
type story struct {
	badLines
	m        *pipeline.Model
	maxFacts int // facts to show
	form     answerFormat
	text     string
	open     int // the last line that no question follows yet, or 0
}

// line reads one line of the input. Its error ends the command.
func (s *story) line(line input) error {
	text := strings.TrimSpace(line.text)
	switch {
	case line.err != nil:
		s.report(s.lines, line.err)
		return nil
	case text == "" || strings.HasPrefix(text, "1 "):
		s.begin()
	}
	if text == "" {
		return nil
	}
	asked := strings.Contains(text, "?")
	switch err := subword.CheckText(line.text); {
	case err != nil && asked:
		return s.refuse(err)
	case err != nil:
		s.report(s.lines, err)
		return nil
	case asked:
		return s.ask(text)
	}
	s.text, s.open = s.text+text+"\n", s.lines
	if len(s.text) > maxLineSize {
		s.report(s.lines, fmt.Errorf("the story is longer than %d bytes: a new one begins", maxLineSize))
		s.text, s.open = "", 0
	}
	return nil
}

// begin begins a new story. A previous story without a question is reported.
func (s *story) begin() {
	if s.open > 0 {
		s.report(s.open, fmt.Errorf("the story ends without a question: end it with one, and a question mark"))
	}
	s.text, s.open = "", 0
}

// refuse reports a question that cannot be answered, and writes what stands for its answer.
func (s *story) refuse(err error) error {
	s.open = 0
	s.report(s.lines, err)
	if s.form.asJSON {
		_, err := io.WriteString(s.c.OutOrStdout(), s.form.failed(s.lines, err))
		return err
	}
	return s.skip()
}

// ask answers a question about the story.
func (s *story) ask(question string) error {
	s.open = 0
	a, err := s.m.Classify(s.c.Context(), s.text+question)
	if err != nil {
		if stopped := s.c.Context().Err(); stopped != nil {
			return stopped
		}
		return s.refuse(err)
	}
	s.text = strings.Join(facts(a), "\n") + "\n"
	if len(a.Input.Unknown) > 0 {
		s.c.PrintErrf("ut: line %d: %s\n", s.lines, unknownText(a.Input.Unknown))
	}
	if s.form.asJSON {
		answer := newStoryJSON(s.lines, a, s.form.nBest, s.form.exit)
		s.ranked(s.form.nBest, len(answer.NBest))
		_, err := io.WriteString(s.c.OutOrStdout(), jsonLine(answer))
		return err
	}
	s.ranked(s.form.nBest, len(a.Classes))
	return printAnswer(s.c.OutOrStdout(), a, s.maxFacts, s.form.nBest)
}

// facts returns the sentences of the story that was asked about.
func facts(a *pipeline.Explained) []string { return a.Input.Labels[:len(a.Input.Labels)-1] }

func printAnswer(w io.Writer, a *pipeline.Explained, maxFacts, nBest int) error {
	text := fmt.Sprintf("%s (%.0f %%)\n", a.Answer, 100*a.Classes[0].Probability)
	for _, class := range a.Classes[min(1, len(a.Classes)):max(1, min(nBest, len(a.Classes)))] {
		text += fmt.Sprintf("or %s (%.0f %%)\n", class.Name, 100*class.Probability)
	}
	shown := 0
	for _, share := range a.Attention {
		if share.Position < len(facts(a)) && shown < maxFacts {
			shown++
			text += fmt.Sprintf("  %3.0f %%  %s\n", 100*share.Share, facts(a)[share.Position])
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
