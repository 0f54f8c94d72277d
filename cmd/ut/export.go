package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/internal/onnxfile"
	"universal-transformer/pipeline"
)

// exportFlags holds the flags of ut export.
type exportFlags struct {
	run   string
	out   string
	onnx  bool
	sizes onnxfile.Sizes
}

func newExport() *cobra.Command {
	f := exportFlags{sizes: onnxfile.Sizes{Rows: 1, Source: 64, Target: 64}}
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write weights and configuration for other programs",
		Long: `export writes the best checkpoint's parameters as model.safetensors, a config.json with the
configuration and its vocabularies and, for subwords, tokenizer.json to the folder export of the run
directory or, with --out, to another one, in which it replaces an earlier export, but no other files
of these names. It prints that path. docs/weights.md has every formula, docs/weights.py reads an
export with NumPy.

With --run: a new run directory with the weights, the configuration and the vocabularies only. It is
smaller, needs no data, and works with every command that uses a model, such as decode, serve and
trace. Training cannot be resumed from it.

With --onnx: graphs of ONNX in the folder export, of fixed sizes: model.onnx for a classifier or a
tagger; encoder.onnx and step.onnx, which decodes one token with a cache, for others. All steps up
to the maximum are in the graph. This needs a build with the tag onnx and the library of ONNX
Runtime; see docs/weights.md. Pointers are refused.`,
		Example: `  ut export runs/reverse
  ut export runs/reverse --out exported
  ut export runs/reverse --run models/reverse
  ut export runs/reverse --onnx --rows 8 --source 32 --target 33`,
		Args: arguments("RUN"),
		RunE: f.export,
	}
	c.Flags().StringVar(&f.out, "out", "", "write to this `folder` instead of the run's folder export")
	c.Flags().StringVar(&f.run, "run", "", "write a run `directory` that holds the weights only")
	c.Flags().BoolVar(&f.onnx, "onnx", false, "write graphs of ONNX")
	c.Flags().IntVar(&f.sizes.Rows, "rows", f.sizes.Rows, "with --onnx: `number` of rows of a batch")
	c.Flags().IntVar(&f.sizes.Source, "source", f.sizes.Source, "with --onnx: `number` of source positions, including padding")
	c.Flags().IntVar(&f.sizes.Target, "target", f.sizes.Target, "with --onnx: largest `number` of tokens of an answer or a text")
	return c
}

// export writes what the flags say, and prints the paths.
func (f *exportFlags) export(c *cobra.Command, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	return usingModel(c, args[0], "", func(t *pipeline.Model) error {
		paths, err := []string{f.run}, error(nil)
		switch {
		case f.onnx:
			paths, err = t.ExportONNX(f.sizes)
		case f.run != "":
			err = t.ExportRun(f.run)
		case f.out != "":
			paths[0], err = f.out, t.ExportTo(f.out)
		default:
			paths[0], err = t.Export()
			err = elsewhere(err, "write to another folder with --out")
		}
		if f.onnx {
			err = elsewhere(err, "write the run's weights to another folder with --run, and export that")
		}
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), strings.Join(paths, "\n"))
		}
		return err
	})
}

// check rejects flags that contradict each other, and sizes out of range.
func (f *exportFlags) check(c *cobra.Command) error {
	for _, name := range []string{"rows", "source", "target"} {
		if c.Flags().Changed(name) && !f.onnx {
			return usagef("--%s is a size of graphs: give --onnx too", name)
		}
	}
	for _, pair := range []struct {
		a, b string
		both bool
	}{{"run", "onnx", f.onnx && f.run != ""}, {"out", "onnx", f.onnx && f.out != ""}, {"out", "run", f.out != "" && f.run != ""}} {
		if pair.both {
			return usagef("--%s and --%s are both given: choose one", pair.a, pair.b)
		}
	}
	if err := f.sizes.Validate(); err != nil {
		return usageError{fmt.Errorf("--%w", err)}
	}
	return nil
}
