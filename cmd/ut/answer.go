package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"universal-transformer/pipeline"
)

func newAnswer() *cobra.Command {
	backend, most := "", 3
	c := &cobra.Command{
		Use:   "answer RUN",
		Short: "Answer questions about stories from the standard input",
		Long: `answer reads a story, sentence by sentence, and answers every question in it, a sentence that
ends in a question mark: the answer, how probable the model finds it, and the facts it looked at,
with the share of its attention that each got (the mean over heads and steps).

The story goes on after a question. An empty line, or a line with the number 1 in front as in the
files of bAbI, begins a new one. Words that the model has never read are named on the standard
error; such an answer is a guess.`,
		Example: `  printf 'Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?\n' | ut answer runs/babi
  ut answer runs/babi < story.txt`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if most < 0 {
				return usagef("--facts is %d: it must not be negative", most)
			}
			return usingModel(c, args[0], backend, func(t *pipeline.Model) error {
				return answerStories(c, t, most)
			})
		},
	}
	c.Flags().IntVar(&most, "facts", most, "facts to show, the `number` most looked at")
	backendFlag(c, &backend)
	return c
}

// answerStories answers the standard input.
func answerStories(c *cobra.Command, t *pipeline.Model, most int) error {
	if file, ok := c.InOrStdin().(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		c.PrintErrln("tell a story, a sentence a line, and ask; an empty line begins another; Ctrl-D ends")
	}
	lines := readLines(c.InOrStdin())
	told, number, asked := "", 0, false
	for {
		batch, err := lines.next(c.Context())
		for _, line := range batch {
			number++
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "1 ") {
				told, asked = "", false
			}
			if !strings.Contains(line, "?") {
				told += line + "\n"
				continue
			}
			a, err := t.Classify(c.Context(), told+line)
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			told, asked = strings.Join(facts(a), "\n")+"\n", true
			if len(a.Input.Unknown) > 0 {
				c.PrintErrf("ut: line %d: the model has never read: %s\n", number, strings.Join(a.Input.Unknown, ", "))
			}
			if err := printAnswer(c.OutOrStdout(), a, most); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF && !asked && strings.TrimSpace(told) != "":
			return fmt.Errorf("line %d: the story ends without a question: end it with one, and a question mark", number)
		case err == io.EOF && number == 0:
			return fmt.Errorf("no story on the standard input: see ut answer --help")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// facts is the story of an answered question.
func facts(a *pipeline.Classification) []string { return a.Input.Labels[:len(a.Input.Labels)-1] }

func printAnswer(w io.Writer, a *pipeline.Classification, most int) error {
	text := fmt.Sprintf("%s (%.0f %%)\n", a.Answer, 100*a.Probability)
	shown := 0
	for _, share := range a.Attention {
		if share.Position < len(facts(a)) && shown < most {
			shown++
			text += fmt.Sprintf("  %3.0f %%  %s\n", 100*share.Share, facts(a)[share.Position])
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
