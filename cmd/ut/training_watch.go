package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
	"universal-transformer/internal/textfile"
	"universal-transformer/pipeline"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// watched trains with progress and remarks on the standard error, and prints a summary on the standard output.
func watched(c *cobra.Command, group *parallel.Group, dir string, remarks []string, train func(context.Context, pipeline.Callbacks) (training.Summary, error)) error {
	report, err := trainWatched(c, group, dir, remarks, train)
	if err != nil {
		return err
	}
	return summarize(c.OutOrStdout(), dir, report)
}

// trainWatched trains with progress on the standard error. The error of an interrupted run says how to resume it.
func trainWatched(c *cobra.Command, group *parallel.Group, dir string, remarks []string, train func(context.Context, pipeline.Callbacks) (training.Summary, error)) (training.Summary, error) {
	defer ignoreHangup()()
	watch := &trainingWatch{w: c.ErrOrStderr(), dir: dir, remarks: remarks}
	what := "saving after the current update, if one has begun; interrupt again to stop immediately, without saving"
	if group != nil && group.Size() > 1 { // another may have died, so that no update follows
		what = "all ranks end after the current update and save, unless one has ended or does not respond"
	}
	stop := context.AfterFunc(c.Context(), func() { c.PrintErrln("\ninterrupted: " + what) })
	defer stop()
	command := trainCommandOf(c, group)
	report, err := train(c.Context(), pipeline.Callbacks{Progress: watch.progress, Log: watch.say, Group: group})
	watch.done()
	if err == nil && report.Stopped == "interrupted" {
		err = fmt.Errorf("%w after update %d, which is saved; resume with: %s", errInterrupted, report.Step, command.resume(dir))
	}
	return report, command.advise(err)
}

// ignoreHangup lets training and servers continue after the reader of their output has ended, as in a pipe to head. Otherwise the process
// would end at the next line, training without saving. The returned function restores the default.
func ignoreHangup() (back func()) {
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}

// trainingWatch shows the progress of training.
type trainingWatch struct {
	w    io.Writer
	dir  string // of the run
	line *progress.Progress
	mean smooth

	remarks []string // on the configuration, printed once training has begun
}

// smooth holds moving averages of measurements that vary from update to update.
type smooth struct{ loss, accuracy, tokens, ponder float64 }

const newestWeight = 0.1 // weight of the newest measurement in the mean

func (s *smooth) add(p training.Progress, weight float64) {
	for _, pair := range []struct {
		mean *float64
		now  float64
	}{
		{&s.loss, p.Tally.MeanLoss()}, {&s.accuracy, p.Tally.TokenAccuracy()},
		{&s.tokens, p.TokensPerSecond}, {&s.ponder, p.Tally.Ponder()},
	} {
		*pair.mean += weight * (pair.now - *pair.mean)
	}
}

func (t *trainingWatch) progress(p training.Progress) {
	if t.line == nil {
		for _, line := range t.remarks {
			t.say("ut: note: " + line)
		}
		t.line = progress.New(t.w, p.Steps, "update")
		t.line.StartAt(p.Step)
		if mayEndEarly(t.dir) {
			t.line.MayEndEarly()
		}
		t.mean.add(p, 1)
	}
	t.mean.add(p, newestWeight)
	fields := []progress.Field{progress.Number("loss", t.mean.loss), progress.Number("accuracy", t.mean.accuracy)}
	if p.Adaptive {
		fields = append(fields, progress.Number("ponder", t.mean.ponder))
	}
	t.line.Update(p.Step, append(fields, progress.Rate(t.mean.tokens, "tokens/s"))...)
}

// mayEndEarly reports whether a criterion may end the run in a directory before its last update.
func mayEndEarly(dir string) bool {
	r, err := pipeline.ReadRun(dir)
	return err == nil && r.Training.Stop != (schedule.Stop{})
}

// say prints a line above the progress line.
func (t *trainingWatch) say(line string) {
	if file, ok := t.w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		line = "\r\x1b[K" + line
	}
	fmt.Fprintln(t.w, line)
}

func (t *trainingWatch) done() {
	if t.line != nil {
		t.line.Done()
	}
}

// summarize prints the summary of training and what to do next.
func summarize(w io.Writer, dir string, r training.Summary) error {
	why := map[string]string{
		"done":     "all of the configuration",
		"accuracy": "the validation accuracy reached the target",
		"perfect":  "all validation examples are correct",
		"patience": "validation did not improve any more",
	}[r.Stopped]
	held := r.Validation
	_, err := fmt.Fprintf(w, "%s: %s (%s) in %s, %s parameters\n", dir, quantity.Regular(int(r.Step), "updates"), why, minutes(r.Seconds), thousands(r.Parameters))
	switch sequences := (score.Accuracy{Correct: int(held.CorrectSequences), Total: int(held.Sequences)}); {
	case err != nil || held.Sequences == 0:
	case held.Tokens == held.Sequences: // of classes
		_, err = fmt.Fprintf(w, "validation: accuracy %s\n", sequences)
	default:
		_, err = fmt.Fprintf(w, "validation, teacher forcing: token accuracy %s, sequence accuracy %s\n",
			score.Accuracy{Correct: int(held.CorrectTokens), Total: int(held.Tokens)}, sequences)
	}
	if err == nil && r.Selection != "" {
		_, err = fmt.Fprintln(w, r.Selection)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "next: %s eval %s\n", textfile.Quoted(os.Args[0]), textfile.Quoted(dir))
	}
	return err
}

// minutes formats a time in seconds or minutes.
func minutes(seconds float64) string {
	if seconds < 90 {
		return fmt.Sprintf("%.1f seconds", seconds)
	}
	return fmt.Sprintf("%.1f minutes", seconds/60)
}

// thousands formats 105242 as 105,242.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, groups...), ",")
}
