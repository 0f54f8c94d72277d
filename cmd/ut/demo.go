package main

import (
	"bytes"
	"context"
	"time"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/training"
	"universal-transformer/viewer"
)

// demoInput is the input of the demo's trace page.
const demoInput = "31415926"

// demoFlags holds the flags of ut demo.
type demoFlags struct {
	out, backend string
	sets         []string
}

func newDemo() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Train, evaluate and visualize a small model",
		Long: `demo trains a Universal Transformer with adaptive halting to reverse up to 16 decimal digits,
evaluates it by greedy decoding at trained lengths and beyond, and writes a trace page for one
input. It takes about half a minute.

A previous run of this command in the directory is replaced; anything else there is an error.`,
		Example: `  ut demo
  ut demo --out /tmp/demo`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error { return f.demo(c, time.Now()) },
	}
	c.Flags().StringVar(&f.out, "out", "runs/demo", "run `directory`")
	backendFlag(c, &f.backend)
	setFlag(c, &f.sets)
	_ = c.Flags().MarkHidden("set") // only tests change the demo
	return c
}

func (f demoFlags) demo(c *cobra.Command, start time.Time) error {
	if _, n := parallel.Launched(); n > 1 {
		return usagef("%d ranks were launched, but the demo uses one process: train it on several with ut train demo", n)
	}
	r, err := recipes.MustRun("demo").Set(f.sets...)
	if err != nil {
		return err
	}
	return using(f.backend, func(backend compute.Backend) error {
		if err := clearDemo(f.out, r); err != nil {
			return err
		}
		if err := runlog.CheckVacant(f.out); err != nil {
			return err
		}
		digits := r.Task.Value.(algorithmic.Reverse).MaxLength
		c.PrintErrf("training %q in %s: reversal of up to %d digits\n", r.Name, f.out, digits)
		report, err := trainWatched(c, nil, f.out, nil, func(ctx context.Context, w pipeline.Callbacks) (training.Summary, error) {
			return pipeline.Train(ctx, backend, r, f.out, w)
		})
		if err != nil {
			return err
		}
		t, err := pipeline.Load(f.out, backend)
		if err != nil {
			return err
		}
		defer t.Close()
		rows, err := f.measure(c, t, digits)
		if err != nil {
			return err
		}
		page, err := f.page(c.Context(), t, demoInput)
		if err != nil {
			return err
		}
		return demoReport{t.Describe(), report, rows, page, f.out, time.Since(start)}.print(c.OutOrStdout())
	})
}

// measure decodes sequences of trained lengths and of longer ones.
func (f demoFlags) measure(c *cobra.Command, t *pipeline.Model, trained int) (rows []evaluation.Row, err error) {
	for _, s := range []task.Selection{
		{Mix: trained, Count: 1000},
		{Length: trained + trained/4, Count: 200}, {Length: trained + trained/2, Count: 200}, {Length: 2 * trained, Count: 200},
	} {
		c.PrintErrf("decoding %s, %s\n", quantity.Regular(s.Count, "sequences"), s)
		row, err := evaluate(c, t, pipeline.Protocol{Selection: s})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row.Row)
	}
	return rows, nil
}

// page writes the trace of one input.
func (f demoFlags) page(ctx context.Context, t *pipeline.Model, input string) (path string, err error) {
	traced, err := t.Trace(ctx, input)
	if err != nil {
		return "", err
	}
	var content bytes.Buffer
	if err := viewer.WriteHTML(&content, traced); err != nil {
		return "", err
	}
	return saveTrace(f.out, traceName(input)+".html", content.Bytes())
}
