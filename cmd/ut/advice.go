package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/textfile"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/training"
)

// A trainCommand is how training was started, and so how it continues: with the same program and backend, so that the bits are the same,
// and with the changes that a resume that failed has not recorded.
type trainCommand struct {
	program string
	flags   string   // " --backend xla:cpu --devices 2"
	changes []change // that a resume was given
	ranks   int
}

// trainCommandOf returns the command that was started.
func trainCommandOf(c *cobra.Command, group *parallel.Group) trainCommand {
	t := trainCommand{program: os.Args[0], ranks: 1}
	if group != nil {
		t.ranks = group.Size()
	}
	for _, name := range []string{"backend", "devices"} {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
			t.flags += fmt.Sprintf(" --%s %s", name, textfile.Quoted(flag.Value.String()))
		}
	}
	if resume := c.Flags().Lookup("resume"); resume == nil || !resume.Changed {
		return t // the configuration of a new run has the assignments
	}
	if accepted, err := c.Flags().GetBool("accept-data"); err == nil && accepted {
		t.changes = append(t.changes, change{flag: "accept-data"})
	}
	assignments, _ := c.Flags().GetStringArray("set")
	for _, a := range assignments {
		t.changes = append(t.changes, change{"set", a})
	}
	return t
}

// onBackend returns the command of a run that is not trained by ut train.
func onBackend(name string) trainCommand {
	t := trainCommand{program: os.Args[0], ranks: 1}
	if name != "" {
		t.flags = " --backend " + textfile.Quoted(name)
	}
	return t
}

// train returns the command with some arguments.
func (t trainCommand) train(arguments string) string {
	text := fmt.Sprintf("%s train %s%s", textfile.Quoted(t.program), arguments, t.flags)
	if t.ranks > 1 {
		text += fmt.Sprintf(", started by the launcher as the %d ranks were", t.ranks)
	}
	return text
}

// resume returns the command that continues a run.
func (t trainCommand) resume(dir string) string { return t.train("--resume " + textfile.Quoted(dir)) }

// A change is a flag that changes a run: --accept-data or, with an assignment, --set.
type change struct{ flag, assignment string }

func (c change) String() string {
	if c.assignment == "" {
		return "--" + c.flag
	}
	return "--" + c.flag + " " + textfile.Quoted(c.assignment)
}

// replaces reports whether both changes concern the same field.
func (c change) replaces(other change) bool {
	field, _, _ := strings.Cut(c.assignment, "=")
	otherField, _, _ := strings.Cut(other.assignment, "=")
	return c.flag == other.flag && field == otherField
}

// retry returns the command that resumes a run once more, with another change, after an error.
func (t trainCommand) retry(dir string, another change) string {
	arguments := "--resume " + textfile.Quoted(dir)
	for _, c := range t.changes {
		if !another.replaces(c) {
			arguments += " " + c.String()
		}
	}
	return t.train(arguments + " " + another.String())
}

// anew returns the command that trains the configuration of a run in another directory.
func (t trainCommand) anew(dir, flag string) string {
	return t.train(strings.TrimSpace("--config " + textfile.Quoted(filepath.Join(dir, "config.json")) + " --out DIRECTORY " + flag))
}

// advised is an error with the command that helps.
type advised struct {
	error
	next string
}

func (a advised) Unwrap() error { return a.error }

// advise adds to an error the command that helps.
func (t trainCommand) advise(err error) error {
	if next := t.advice(err); next != "" {
		return advised{err, next}
	}
	return err
}

// advice returns the command that helps after an error of a library, or an empty string. Libraries name only fields and values, as they do
// not know the flags of this program.
func advice(err error) string {
	var told advised
	if errors.As(err, &told) {
		return told.next
	}
	return trainCommand{program: "ut", ranks: 1}.advice(err)
}

// advice returns the command that helps after an error of training, or of another library.
func (t trainCommand) advice(err error) string {
	var diverged *training.DivergedError
	var edited *pipeline.EditedError
	var lost *pipeline.LostError
	var changed *pipeline.DataError
	switch {
	case errors.As(err, &diverged) && diverged.Initial:
		return ""
	case errors.As(err, &diverged):
		lower := change{"set", fmt.Sprintf("training.schedule.%s=%.3g", diverged.Field, diverged.Value)}
		if diverged.Saved < 0 && diverged.Broken != "" {
			return t.anew(diverged.Dir, lower.String())
		}
		return t.retry(diverged.Dir, lower)
	case errors.As(err, &edited):
		return t.retry(edited.Dir, change{"set", "FIELD=VALUE"})
	case errors.As(err, &lost):
		return t.anew(lost.Dir, "")
	case errors.As(err, &changed):
		return t.retry(changed.Dir, change{flag: "accept-data"})
	}
	return adviceOfUse(err)
}

// adviceOfUse returns the command that helps after an error that is not one of training.
func adviceOfUse(err error) string {
	var data *task.MissingDataError
	var long *pipeline.LengthError
	var kind *pipeline.KindError
	switch {
	case errors.As(err, &long) && long.Tokens <= pipeline.MaxTokens:
		return fmt.Sprintf("--max-source %d", long.Tokens)
	case errors.As(err, &data):
		return fmt.Sprintf("ut data %s downloads it", data.Set)
	case errors.Is(err, subword.ErrTrainTokenizer):
		return "create one with ut tokenizer train"
	case errors.As(err, &kind):
		return "use " + answeringCommand(kind.Run)
	case errors.Is(err, pipeline.ErrNoData):
		return "for example --vocabulary 10000 --length 32"
	}
	return ""
}

// answeringCommand returns the command that answers with the model of a run.
func answeringCommand(r experiment.Run) string {
	switch kind := r.Task.Value.Kind(); {
	case kind == task.Tagging:
		return "ut tag"
	case kind == task.Classification && r.TaskName() == "babi":
		return "ut answer"
	case kind == task.Classification:
		return "ut classify"
	}
	return "ut decode"
}
