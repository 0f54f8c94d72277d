package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

// infoFields describes the JSON of a run.
const infoFields = `
  run          the directory
  status       "running" (a process is writing it), "finished", "interrupted" (it can be resumed),
               "diverged" (it can be resumed with a lower learning rate), "weights" (exported or
               imported: it cannot be resumed) or "damaged" (a file cannot be read)
  problem      the first problem of a damaged run
  experiment   the configuration's name
  task         "table", "labels", "text", ...
  data         an array of files: field (of the configuration), path, found (whether it is there)
  model        one line
  parameters   numbers in the model; 0 before the first checkpoint
  step, steps  updates so far, and updates of the configuration
  stopped      "accuracy", "perfect" or "patience" if training.stop ended training early
  diverged     the update at which training diverged; only if it did
  best         of the best checkpoint: its step and the metrics of its validation, an array of
               objects with name, as in metrics.jsonl, and value; null if there is none
  unmarked     why no checkpoint is marked as the best, and used, the update of the one that
               commands use instead; only if none is marked
  newest       the newest validation, likewise
  checkpoints  an array of updates
  seconds      training time, up to the newest checkpoint
  cpu_seconds  CPU time of all processes that trained it
  backend      of the newest of these processes`

func newInfo() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "info RUN",
		Short: "Describe a run: status, best update, parameters, time, data",
		Long: `info describes a run directory without loading its model.

With --json: an object with the fields` + infoFields,
		Example: `  ut info runs/pairs
  ut info runs/pairs --json`,
		Args: arguments("RUN"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			i, err := pipeline.ReadInfo(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), i)
			}
			if i.Task == "" { // the configuration cannot be read, and nothing is known of the run
				return fmt.Errorf("%s: %s", i.Run, strings.TrimPrefix(i.Problem, i.Run+string(filepath.Separator)))
			}
			return printInfo(c.OutOrStdout(), i)
		}),
	}
	jsonFlag(c, &asJSON)
	return c
}

func printInfo(w io.Writer, i pipeline.Info) error {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(lines, "%s\t%s\n", name, value)
		}
	}
	status := i.Status + stopReason(i.Stopped)
	if i.Status == pipeline.Diverged {
		status += fmt.Sprintf(" at update %d", i.Diverged)
	}
	fmt.Fprintf(lines, "%s: %s\n", i.Run, status)
	field("problem", i.Problem)
	field("experiment", fmt.Sprintf("%s, task %s", i.Experiment, i.Task))
	field("model", i.Model)
	field("step", i.Recurrent)
	if i.Parameters > 0 {
		field("parameters", thousands(i.Parameters))
	}
	updates := fmt.Sprintf("%d of %d", i.Step, i.Steps)
	if n := len(i.Checkpoints); n > 0 && slices.Max(i.Checkpoints) < i.Step {
		updates += fmt.Sprintf(", saved up to update %d", slices.Max(i.Checkpoints))
	}
	field("updates", updates)
	if i.Problem == "" && i.Status != pipeline.WeightsOnly && len(i.Checkpoints) == 0 {
		field("checkpoints", "none yet: training starts from the beginning if it is resumed")
	}
	best := validationLine(i.Best)
	if i.Unmarked != "" {
		best = fmt.Sprintf("no checkpoint is marked, because %s: commands use that of update %d", i.Unmarked, i.Used)
	}
	field("best", best)
	field("last validation", validationLine(i.Newest))
	if i.Seconds > 0 {
		time := minutes(i.Seconds)
		if i.CPUSeconds > 0 {
			time += fmt.Sprintf(", CPU time %s", minutes(i.CPUSeconds))
		}
		field("time", time+strings.TrimSuffix(", "+i.Backend, ", "))
	}
	field("accepted", i.ChangedData)
	for _, d := range i.Data {
		missing := ""
		if !d.Found {
			missing = ", which does not exist"
		}
		field("data", fmt.Sprintf("%s: %s%s", d.Field, d.Path, missing))
	}
	return lines.Flush()
}

// stopReason describes why training ended before its last update.
func stopReason(stopped string) string {
	if stopped == "" {
		return ""
	}
	return ", ended by training.stop." + stopped
}

// validationLine formats a validation; "" if there is none.
func validationLine(v *pipeline.Validation) string {
	if v == nil {
		return ""
	}
	var figures []string
	tokens, _ := v.Figure("tokens")
	sequences, _ := v.Figure("sequences")
	single := tokens > 0 && tokens == sequences // one token answers each example: both accuracies are the same
	for _, f := range v.Metrics {
		if f.Name == "token_accuracy" && single {
			f.Name = "accuracy"
		}
		if f.Name == "sequence_accuracy" && single {
			continue
		}
		if slices.Contains([]string{"loss", "tokens", "sequences"}, f.Name) || strings.HasSuffix(f.Name, "_ponder") && f.Value == 0 { // of fixed depth
			continue
		}
		figures = append(figures, fmt.Sprintf("%s %.4g", strings.ReplaceAll(f.Name, "_", " "), f.Value))
	}
	return strings.TrimSuffix(fmt.Sprintf("update %d: %s", v.Step, strings.Join(figures, ", ")), ": ")
}
