package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/babi"
	"universal-transformer/viewer"
)

// traceFlags holds the flags of ut trace.
type traceFlags struct {
	input, out, backend   string
	exit                  exitFlags
	figure                int
	asJSON, asText, asSVG bool
}

func newTrace() *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace RUN --input SOURCE",
		Short: "Show ponder times and attention for one input",
		Long: `trace answers one source and writes an HTML page that shows, step by step, the halting weight of
each position, the attention of every head and what the model would answer. The page is
self-contained; its address keeps what is shown. Its path is printed; without --out it is in the
run's directory, under traces.

With --json: the data of the page, as one JSON object. "format" is "universal-transformer/trace/2";
then come version, model, task, experiment, checkpoint, input, unknown (words of the input that the
model does not know), source, target, output, and the stacks "encoder" and "decoder", each with
tokens, updates (the steps of each position), remainders, weights, limit, changes, attention and
cross_attention; then readouts, what the model would answer after each step, and exit if the model
did not stop as trained.
go doc universal-transformer/viewer.Trace says what they hold.
With --text: the ponder times only, as a chart for the terminal, without attention.
With --svg: only the attention of the last source position, as in the paper's figures 5 to 8.

A model that answers stories (ut answer) takes a story and its question as the source; --figure N
uses the story of the paper's figure N.

` + exitHelp,
		Example: `  ut trace runs/reverse --input 31415
  ut trace runs/reverse --input 31415 --text
  ut trace runs/reverse --input 31415 --json --out -
  ut trace runs/babi --figure 5 --svg --out figure5.svg`,
		Args: func(c *cobra.Command, args []string) error {
			err := arguments("RUN")(c, args)
			if len(args) > 1 && (f.asJSON || f.asText || f.asSVG) {
				err = fmt.Errorf("%w: name the file to write with --out", err)
			}
			return err
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := cmp.Or(f.check(c), f.exit.check(c)); err != nil {
				return err
			}
			if err := checkOutput("out", f.out, keptRuns(nil, args...)...); err != nil {
				return err
			}
			return usingModel(c, args[0], f.backend, func(t *pipeline.Model) error {
				if err := f.exit.apply(t); err != nil {
					return err
				}
				return f.trace(c, t, args[0])
			})
		},
	}
	c.Flags().StringVar(&f.input, "input", "", "the `source` to answer")
	c.Flags().IntVar(&f.figure, "figure", 0, "answer the story of the paper's figure `N`, 5 to 8")
	c.Flags().StringVar(&f.out, "out", "", "`file` to write, - for the standard output (default with --text)")
	standardFlag(c, "out")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write JSON instead of a page")
	c.Flags().BoolVar(&f.asText, "text", false, "draw the ponder times for a terminal instead")
	c.Flags().BoolVar(&f.asSVG, "svg", false, "draw the attention of the last position instead")
	f.exit.add(c)
	backendFlag(c, &f.backend)
	return c
}

// check rejects combinations of flags that contradict each other, and looks up the story of --figure.
func (f *traceFlags) check(c *cobra.Command) error {
	input, figure := c.Flags().Changed("input"), c.Flags().Changed("figure")
	switch {
	case !input && !figure:
		return usagef("--input is missing: give the source to answer")
	case input && figure:
		return usagef("--input and --figure are both given: choose one")
	case f.asJSON && f.asText:
		return usagef("--json and --text are both given: choose one")
	case f.asSVG && (f.asJSON || f.asText):
		return usagef("--svg is given with --json or --text: choose one")
	case !figure:
		return nil
	}
	for _, s := range babi.Stories {
		if s.Figure == f.figure {
			f.input = s.Text
			return nil
		}
	}
	return usagef("--figure is %d: the paper prints the stories of figures 5 to 8", f.figure)
}

func (f traceFlags) trace(c *cobra.Command, t *pipeline.Model, dir string) error {
	if _, stories := t.Run.Task.Value.(babi.Babi); f.figure != 0 && !stories {
		return fmt.Errorf("--figure %d is a story, but %s was trained on %s: use --input", f.figure, dir, t.Run.Task.Value)
	}
	traced, err := t.Trace(c.Context(), f.input)
	if err != nil {
		from := "--input"
		if f.figure != 0 {
			from = "--figure"
		}
		return fmt.Errorf("%s: %w", from, err)
	}
	if in, err := t.Read(f.input); err == nil && len(in.Unknown) > 0 {
		c.PrintErrf("ut: %s\n", unknownText(in.Unknown))
	}
	if f.out == standard || f.out == "" && f.asText {
		return f.write(c.OutOrStdout(), traced)
	}
	var content bytes.Buffer
	if err := f.write(&content, traced); err != nil {
		return err
	}
	path := f.out
	if path != "" {
		err = atomicfile.Write(path, content.Bytes())
	} else {
		path, err = saveTrace(dir, traceName(f.input)+f.suffix(), content.Bytes())
		err = elsewhere(err, "choose another file with --out")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), path)
	return err
}

func (f traceFlags) suffix() string {
	switch {
	case f.asJSON:
		return ".json"
	case f.asSVG:
		return ".svg"
	}
	return ".html"
}

// write renders the trace in the form asked for.
func (f traceFlags) write(w io.Writer, t *viewer.Trace) error {
	switch {
	case f.asJSON:
		return viewer.WriteJSON(w, t)
	case f.asSVG:
		return viewer.WriteAttentionSVG(w, t)
	case f.asText:
		width, colour := 80, false
		if o, ok := w.(*output); ok {
			w = o.Writer
		}
		if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			colour = os.Getenv("NO_COLOR") == ""
			if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
				width = columns
			}
		}
		return viewer.WriteText(w, t, width, colour)
	}
	return viewer.WriteHTML(w, t)
}

// saveTrace writes a file to the traces of a run and returns its path.
func saveTrace(dir, name string, content []byte) (string, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return "", err
	}
	return log.WriteTrace(name, content)
}

// traceName returns a file name for the trace of an input: the input itself if it is a valid name, otherwise its valid characters and a
// checksum.
func traceName(input string) string {
	const maxLength = 40
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_':
			return r
		}
		return '_'
	}, input)
	if name == input && name != "" && len(name) <= maxLength {
		return name
	}
	sum := sha256.Sum256([]byte(input))
	return fmt.Sprintf("%s-%x", name[:min(maxLength, len(name))], sum[:4])
}
