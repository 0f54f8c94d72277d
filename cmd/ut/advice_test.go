package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// A command that continues a run has the program, the backend and the changes of the one that failed.
// Caught when planted: a command without the backend, with two values of one field, twice with --accept-data.
func TestCommandsThatContinue(t *testing.T) {
	command := func(args ...string) trainCommand {
		var of trainCommand
		c := newTrain()
		c.RunE = func(c *cobra.Command, _ []string) error {
			of = trainCommandOf(c, nil)
			return nil
		}
		c.SetArgs(args)
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		of.program = "bin/ut"
		return of
	}
	diverged := &training.DivergedError{Step: 5, Dir: "my run", Field: "rate", Value: 0.5}
	first := &training.DivergedError{Step: 5, Dir: "run", Field: "rate", Value: 0.5, Saved: -1, Broken: "x"}
	resumed := command("--resume", "run", "--backend", "cpu:threads=1", "--set", "training.steps=9", "--set", "training.schedule.rate=3", "--accept-data")
	for _, c := range []struct {
		command trainCommand
		err     error
		want    string
	}{
		{command("demo", "--backend", "cpu:scalar", "--set", "training.steps=9"), diverged, "bin/ut train --resume 'my run' --set training.schedule.rate=0.5 --backend cpu:scalar"},
		{command("demo", "--devices", "2"), first, "bin/ut train --config " + filepath.Join("run", "config.json") + " --out DIRECTORY --set training.schedule.rate=0.5 --devices 2"},
		{resumed, diverged, "bin/ut train --resume 'my run' --accept-data --set training.steps=9 --set training.schedule.rate=0.5 --backend cpu:threads=1"},
		{resumed, &pipeline.DataError{}, "bin/ut train --resume '' --set training.steps=9 --set training.schedule.rate=3 --accept-data --backend cpu:threads=1"},
		{resumed, errors.New("other"), ""},
		{onBackend("cpu:threads=1"), diverged, " train --resume 'my run' --set training.schedule.rate=0.5 --backend cpu:threads=1"},
	} {
		if got := advice(fmt.Errorf("x: %w", c.command.advise(c.err))); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := resumed.resume("run"); got != "bin/ut train --resume run --backend cpu:threads=1" {
		t.Errorf("resume with %q", got)
	}
}

// A command that does not suit a model names the one that does. Caught when planted: decode for a classifier.
func TestAdviceOfEveryKind(t *testing.T) {
	labels := write(t, "labels.tsv", "a good film\tyes\na bad film\tno\nnot good\tno\nnot bad at all\tyes\nfine\tyes\nboring\tno\nso good\tyes\nso bad\tno\n"+manyLabels())
	classifier := quickRun(t, "labels", "own-labels", "task.path="+labels)
	tagger := quickRun(t, "tags", "own-tags", "task.path="+names(t))
	for _, c := range []struct{ command, run, want string }{
		{"tag", classifier, "answers with no tags: it was trained on "}, {"tag", trained(t), "use ut decode"}, {"answer", classifier, "use ut classify"},
		{"score", classifier, "so it cannot score texts: use ut classify"}, {"translate", classifier, "answers with a class, not with a sequence: use ut classify"},
		{"tag", classifier, "use ut classify"}, {"classify", trained(t), "use ut decode"}, {"answer", trained(t), "use ut decode"},
		{"decode", tagger, "use ut tag"}, {"classify", tagger, "use ut tag"}, {"score", tagger, "use ut tag"}, {"answer", tagger, "use ut tag"}, {"translate", tagger, "use ut tag"},
	} {
		r := utReading(t, "a\n", c.command, c.run)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, ": use ut ") != 1 {
			t.Errorf("%s: %q, want %q", c.command, r.stderr, c.want)
		}
	}
}

// manyLabels returns rows for a classifier.
func manyLabels() string {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "film number %d\t%s\n", i, []string{"yes", "no"}[i%2])
	}
	return rows.String()
}
