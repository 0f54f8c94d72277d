package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/evaluation"
	"universal-transformer/experiment"
	"universal-transformer/internal/progress"
	"universal-transformer/runlog"
)

// measured is the JSON of eval.
type measured struct {
	Version    string `json:"version"`
	Run        string `json:"run"`
	Experiment string `json:"experiment"`
	Checkpoint int64  `json:"checkpoint"`
	evaluation.Row
	Seconds float64 `json:"seconds"`
}

const evalHelp = `eval measures the best checkpoint of a run on examples that its task holds out, with 95 %
intervals (Wilson). Without --teacher-forced the model really decodes, token after token from
its own output; with it, every token is predicted from the true ones before it.

Without --length and --mix, lengths are as in training. A table has the lengths it has.

With --json: an object with the fields
  version      of the program
  run          the directory
  experiment   the experiment's name
  checkpoint   training steps behind the weights
  task         the task's name
  examples     how many were looked at
  lengths      which: "length 40", "lengths 1..40" or "lengths as in training"
  method       "greedy decoding", "beam search" or "teacher forcing"
  beam_width   of beam search, else 0
  alpha        its length penalty, else 0
  score        "tokens" and "sequences", each with "right", "total", "value" (right/total, null
               if total is 0) and the interval's "low" and "high"
  unended      decoded sequences that were cut off at the length limit
  encoder_updates, decoder_updates
               steps of a position on average, with teacher forcing at adaptive depth, else 0
  seconds      that all of it took, compiling included`

func newEval() *cobra.Command {
	var p experiment.Protocol
	backend, asJSON := "", false
	c := &cobra.Command{
		Use:   "eval RUN",
		Short: "Measure a trained model on examples it has not seen",
		Long:  evalHelp,
		Example: `  ut eval runs/reverse
  ut eval runs/reverse --length 40 --count 200
  ut eval runs/reverse --mix 16 --beam 4 --json
  ut eval runs/reverse --teacher-forced          (and --masked, to see what leaving halted positions out saves)`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkProtocol(c, &p); err != nil {
				return err
			}
			return usingModel(c, args[0], backend, func(t *experiment.Trained) error {
				start := time.Now()
				row, err := evaluate(c, t, p)
				if err != nil {
					return err
				}
				m := measured{runlog.Version(), args[0], t.Run.Name, t.Step, row, time.Since(start).Seconds()}
				if asJSON {
					return writeJSON(c.OutOrStdout(), m)
				}
				return m.print(c.OutOrStdout())
			})
		},
	}
	c.Flags().IntVar(&p.Selection.Length, "length", 0, "sources of exactly `N` tokens")
	c.Flags().IntVar(&p.Selection.Mix, "mix", 0, "sources of 1 to `N` tokens, every length equally often")
	c.Flags().IntVar(&p.Selection.Count, "count", 1000, "examples; 0 for all that the task has")
	c.Flags().BoolVar(&p.TeacherForced, "teacher-forced", false, "predict every token from the true ones before it")
	c.Flags().BoolVar(&p.Masked, "masked", false, "transform halted positions like the others: the same answers, more work")
	beamFlags(c, &p.Beam)
	jsonFlag(c, &asJSON)
	backendFlag(c, &backend)
	return c
}

// checkProtocol rejects what cannot be meant.
func checkProtocol(c *cobra.Command, p *experiment.Protocol) error {
	for _, name := range []string{"length", "mix"} {
		if n, _ := c.Flags().GetInt(name); c.Flags().Changed(name) && n < 1 {
			return usagef("--%s is %d: it must be at least 1", name, n)
		}
	}
	if err := p.Selection.Validate(); err != nil {
		return usageError{err}
	}
	if p.TeacherForced && c.Flags().Changed("beam") {
		return usagef("--teacher-forced and --beam are both given: with teacher forcing nothing is searched")
	}
	return checkBeam(c, &p.Beam)
}

// evaluate measures with progress on the standard error.
func evaluate(c *cobra.Command, t *experiment.Trained, p experiment.Protocol) (evaluation.Row, error) {
	var line *progress.Progress
	p.Progress = func(done, total int) {
		if line == nil {
			line = progress.New(c.ErrOrStderr(), int64(total), "example")
		}
		line.Update(int64(done))
	}
	row, err := t.Evaluate(c.Context(), p)
	if line != nil {
		line.Done()
	}
	return row, err
}

// print says it in words.
func (m measured) print(w io.Writer) error {
	method := m.Method
	if m.Method == evaluation.BeamSearch {
		method = fmt.Sprintf("%s of width %d, alpha %v", method, m.BeamWidth, m.Alpha)
	}
	_, err := fmt.Fprintf(w, `%s, checkpoint of step %d
%s, %s, %d examples held out, %s
token accuracy    %s
sequence accuracy  %s
in parentheses: 95 %% interval, and counts
`, m.Run, m.Checkpoint, m.Task, m.Lengths, m.Examples, method, m.Score.Tokens, m.Score.Sequences)
	if err == nil && m.EncoderUpdates+m.DecoderUpdates > 0 {
		_, err = fmt.Fprintf(w, "steps of a position on average: encoder %.2f, decoder %.2f\n", m.EncoderUpdates, m.DecoderUpdates)
	}
	if err == nil && m.Unended > 0 {
		_, err = fmt.Fprintf(w, "%d of %d answers did not end and were cut off\n", m.Unended, m.Examples)
	}
	return err
}
