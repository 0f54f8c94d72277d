package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/experiment"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/textfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// measured is the JSON of ut eval.
type measured struct {
	Version    string `json:"version"`
	Run        string `json:"run"`
	Experiment string `json:"experiment"`
	Checkpoint int64  `json:"checkpoint"`
	pipeline.Evaluation
	Diagnosis  *pipeline.Diagnosis `json:"diagnosis,omitempty"`
	Exit       string              `json:"exit,omitempty"`
	Parameters int                 `json:"parameters"`
	Training   float64             `json:"training_seconds"`
	Seconds    float64             `json:"seconds"`
}

// evalFlags holds the flags of ut eval.
type evalFlags struct {
	pipeline.Protocol
	backend, errors string
	exit            exitFlags
	cache           string
	diagnose        bool
	sets            []string
	newest          bool
	asJSON          bool
}

func newEval() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval RUN...",
		Short: "Evaluate trained models on held-out examples",
		Long:  evalHelp,
		Example: `  ut eval runs/reverse
  ut eval runs/reverse --length 40 --count 200
  ut eval runs/reverse --mix 16 --beam 4 --json
  ut eval runs/copy --length 400 --diagnose
  ut eval runs/copy --mix 100 --hard
  ut eval runs/one runs/two runs/three
  ut eval runs/*
  ut eval runs/multi30k --beam 4 --data test.en,test.de
  ut eval runs/pairs --data other.tsv --errors wrong.tsv
  ut eval runs/pairs --exit-confidence 0.9
  ut eval runs/text --cache tune
  ut eval runs/pairs --set task.path=moved/pairs.tsv
  ut eval runs/reverse --teacher-forced          (add --compute-halted to see what skipping halted positions saves)`,
		Args: atLeast("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return err
			}
			return f.run(c, args)
		},
	}
	c.Flags().IntVar(&f.Selection.Length, "length", 0, "sources of exactly `N` tokens")
	c.Flags().IntVar(&f.Selection.Mix, "mix", 0, "sources of 1 to `N` tokens, every length equally often")
	c.Flags().IntVar(&f.Selection.Count, "count", 1000, "number of examples; 0 for all, the default for BLEU and agreement")
	c.Flags().BoolVar(&f.Selection.Hard, "hard", false, "hard cases for half of the examples, as in training.validation_hard")
	c.Flags().StringVar(&f.File, "data", "", "evaluate on the examples in this `file` instead")
	c.Flags().StringVar(&f.errors, "errors", "", "write wrong answers to this `file`, - for the standard output")
	standardFlag(c, "errors")
	c.Flags().BoolVar(&f.TeacherForced, "teacher-forced", false, "predict every token from the true tokens before it")
	c.Flags().BoolVar(&f.ComputeHalted, "compute-halted", false, "compute halted positions too: the same results with more work; not for decoded answers")
	c.Flags().BoolVar(&f.diagnose, "diagnose", false, "analyse wrong answers, and whether attention finds the right token")
	c.Flags().BoolVar(&f.newest, "newest", false, "evaluate the newest checkpoint instead of the best")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "where the data are now: a `path=file` such as task.path=moved/pairs.tsv; may be repeated")
	beamFlags(c, &f.Beam)
	c.Flags().IntVar(&f.MaxLength, "max-length", 0, "end decoded answers after `N` tokens; 0: as described above")
	c.Flags().StringVar(&f.cache, "cache", "", "mix a language model with a continuous cache: its constants `THETA,LAMBDA`, or tune")
	f.exit.add(c)
	jsonFlag(c, &f.asJSON)
	backendFlag(c, &f.backend)
	return c
}

// check rejects combinations of flags that contradict each other.
func (f *evalFlags) check(c *cobra.Command, args []string) error {
	for _, name := range []string{"length", "mix"} {
		if err := atLeastOne(c, name); err != nil {
			return err
		}
		if f.File != "" && c.Flags().Changed(name) {
			return usagef("--%s and --data are both given: the lengths of a file are fixed", name)
		}
	}
	if f.File != "" && f.Selection.Hard {
		return usagef("--hard and --data are both given: the examples of a file are fixed")
	}
	if err := f.Selection.Validate(); err != nil {
		return usagef("--%w", err)
	}
	if f.File != "" && !c.Flags().Changed("count") {
		f.Selection.Count = 0
	}
	if f.TeacherForced && c.Flags().Changed("beam") {
		return usagef("--teacher-forced and --beam are both given: teacher forcing does not search")
	}
	if f.TeacherForced && f.diagnose {
		return usagef("--teacher-forced and --diagnose are both given: only decoded answers can be diagnosed")
	}
	if err := f.checkCache(); err != nil {
		return err
	}
	if f.errors != "" && len(args) > 1 {
		return usagef("--errors is for one run: name one")
	}
	if f.errors == standard && f.asJSON {
		return usagef("--errors - and --json are both given: only one of them can be written to the standard output")
	}
	if err := checkOutput("errors", f.errors, append(keptRuns(f.sets, args...), keptData(f.File, "which the command reads")...)...); err != nil {
		return err
	}
	return cmp.Or(checkLengths(c, f.MaxLength), checkBeam(c, &f.Beam), f.exit.check(c))
}

// suits returns an error if a flag does not suit the model.
func (f *evalFlags) suits(m *pipeline.Model) error {
	trainedOn := m.Run.Task.Value
	if _, ok := trainedOn.Measure(m.Vocabularies).(task.Perplexity); ok && f.errors != "" {
		return usagef("--errors: %s is evaluated by probabilities, so there are no answers", trainedOn)
	}
	if f.diagnose && trainedOn.Kind() != task.Transduction {
		return usagef("--diagnose: %s is not answered by sequences: only decoded answers can be diagnosed", trainedOn)
	}
	if f.File == "" {
		return checkSelection(m.Run, f.Selection)
	}
	return nil
}

// run evaluates every run. With several, what exists and is not a run is skipped, and the others are evaluated although one cannot be. What was
// measured is printed in any case.
func (f *evalFlags) run(c *cobra.Command, runs []string) error {
	list, failed := []measured{}, 0
	for _, dir := range runs {
		err := f.evaluate(c, dir, &list)
		switch {
		case err == nil:
		case len(runs) == 1 || c.Context().Err() != nil || errors.Is(err, errInterrupted):
			if err = withFoundRuns(err, dir); len(list) > 0 {
				err = errors.Join(err, f.print(besides(c, f.errors), list, len(runs) > 1))
			}
			return err
		case errors.Is(err, runlog.ErrNotRun) && exists(dir):
			c.PrintErrf("ut: skipped: %s\n", oneLine(err))
		default:
			c.PrintErrf("ut: %s\n", oneLine(err))
			failed++
		}
	}
	if len(list)+failed == 0 {
		return fmt.Errorf("none of %s is a run directory", strings.Join(runs, ", "))
	}
	if err := f.print(besides(c, f.errors), list, len(runs) > 1); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d runs could not be evaluated", failed, failed+len(list))
	}
	return nil
}

// withFoundRuns adds to the error for a folder that is not a run the command that evaluates the runs in it.
func withFoundRuns(err error, dir string) error {
	if !errors.Is(err, runlog.ErrNotRun) {
		return err
	}
	entries, _ := fs.Glob(os.DirFS(dir), "*/config.json")
	if len(entries) == 0 {
		return err
	}
	return fmt.Errorf("%w; to evaluate the runs in it: ut eval %s", err, textfile.Quoted(filepath.Clean(dir))+string(filepath.Separator)+"*")
}

// print writes the evaluations.
func (f *evalFlags) print(w io.Writer, list []measured, several bool) error {
	switch {
	case f.asJSON && several:
		return writeJSON(w, list)
	case f.asJSON:
		return writeJSON(w, list[0])
	case several && len(list) != 1:
		return printTable(w, list)
	}
	return list[0].print(w)
}

// evaluate evaluates the run in a directory, and adds it to the list.
func (f *evalFlags) evaluate(c *cobra.Command, dir string, list *[]measured) error {
	load := pipeline.LoadOptions{Newest: f.newest, Set: f.sets}.Load
	return usingLoaded(c, load, dir, f.backend, func(m *pipeline.Model) error {
		if err := cmp.Or(f.suits(m), f.exit.apply(m)); err != nil {
			return err
		}
		start := time.Now()
		p := f.Protocol
		if m.MeasuresWholeSet() && !c.Flags().Changed("count") {
			p.Selection.Count = 0
		}
		e, err := evaluate(c, m, p)
		if err != nil {
			return withSetHint(err)
		}
		one := measured{Version: runlog.Version(), Run: dir, Experiment: m.Run.Name, Checkpoint: m.Step, Evaluation: e, Exit: f.exit.exit.String(), Parameters: m.Parameters(), Training: m.TrainingSeconds()}
		if f.diagnose {
			one.Diagnosis, err = m.Diagnose(c.Context(), e)
		}
		one.Seconds = time.Since(start).Seconds()
		*list = append(*list, one)
		return cmp.Or(err, f.writeErrors(c, m, e))
	})
}

// evaluate evaluates a model, with progress on the standard error.
func evaluate(c *cobra.Command, m *pipeline.Model, p pipeline.Protocol) (pipeline.Evaluation, error) {
	var line *progress.Progress
	p.Log = func(text string) { c.PrintErrln(text) }
	p.Progress = func(done, total int) {
		if line == nil {
			line = progress.New(c.ErrOrStderr(), int64(total), "example")
		}
		line.Update(int64(done))
	}
	e, err := m.Evaluate(c.Context(), p)
	if line != nil {
		line.Done()
	}
	return e, asFlag(err)
}

// checkSelection returns an error, before files are read, if the lengths of a task are those of its files and the selection has others.
func checkSelection(r experiment.Run, s task.Selection) error {
	if slices.ContainsFunc(r.Files(), func(f experiment.File) bool { return !f.IsRun() }) {
		return asFlag(s.ValidateOfFile())
	}
	return nil
}

// asFlag returns an error for a selection as one that names the flag.
func asFlag(err error) error {
	var wrong *task.SelectionError
	if errors.As(err, &wrong) {
		return fmt.Errorf("--%w", wrong)
	}
	return err
}
