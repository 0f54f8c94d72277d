package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/internal/progress"
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

const evalHelp = `eval evaluates the best checkpoint of one or more runs on held-out examples, with the metric of the
task: sequences are decoded and compared with the target, classes are compared, texts are scored by
perplexity, translations by BLEU and chrF with sacreBLEU's signatures. Accuracies have 95 %
confidence intervals (Wilson).

With --teacher-forced, each token of an answer is predicted from the true tokens before it.
Without --length and --mix, lengths are as in training; both are rejected for tasks that are read
from files. The examples are the same for every run of a task, whatever its seed.

--data evaluates on another file in the task's format: tab-separated pairs, a bAbI file, a text,
LAMBADA passages; for agreement a numpred file (the rows of numpred.test.K have K attractors), the
authors' table, or NAME.text with NAME.gold next to it; for translation also two comma-separated
file names. --errors writes the wrong answers, one per line: source, correct answer, model's answer.

A run that was moved together with its data finds them; otherwise --set says where they are.

--cache mixes a language model with a continuous cache (Grave, Joulin and Usunier, 2016), a
distribution over the earlier tokens of the same text, with the share LAMBDA; the larger THETA, the
more it prefers tokens after similar states. --cache tune chooses both on the validation examples.

--diagnose analyses wrong answers: whether they end too early or too late and where the first wrong
token is; for copy, reverse and addition also which decoder head attends to the correct source
token, and how much.

` + beamHelp + "\n\n" + lengthHelp + `

Several runs are compared in a table, with steps per position (encoder, decoder), parameters and
training time. What is not a run, as in ut eval runs/*, is reported and skipped.

With --json: an object, or an array of them if several runs are named, with the fields
  version      of the program
  run          the directory
  experiment   the configuration's name
  checkpoint   training steps of the weights
  task         the task's name
  examples     number of examples
  lengths      their lengths: "length 40", "lengths 1..40", "lengths as in training", or the file
  method       "greedy decoding", "beam search of width 4, alpha 0.6", "teacher forcing",
               "classification" or "classification of each token"
  metrics      an array of objects with "name" and "value" (null if there was nothing to measure),
               and for accuracies "correct", "total" and the interval's "low" and "high"
  confusion    of labels and tags: an object with classes (an array of names) and counts, a
               matrix: a row for each true class, a column for each answer
  spans        of tags that mark spans: an array of objects with class (the type), precision,
               recall, f1, support (number of true spans) and predicted
  notes        an array of lines with remarks
  encoder_steps, decoder_steps
               the ponder time: an object with mean and deviation of the steps per position, and
               tenths, an array of ten means: of the first tenth of the positions of every sequence,
               of the second, and so on (null if no sequence has a position there); null if the
               model has no such stack or its depth is not adaptive
  diagnosis    with --diagnose: wrong, early, late, substitute (answers), first_wrong (an array of
               ten), attention (an array of objects with right, step, head, mean, least, place) and
               over_answers (number of answers behind attention)
  exit         when positions ended, if not as trained: "confidence of at least 0.9"
  readouts     with an exit rule: extra, the mean number of readouts of a position besides that of
               its answer, and operations, the share that the rule adds to those of a pass of all
               steps
  parameters   numbers in the model
  training_seconds
               training time up to the checkpoint
  seconds      time of the evaluation, including compilation

With an exit, encoder_steps and decoder_steps are counted for every model, and for decoded answers.

` + exitHelp

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
	c.Flags().BoolVar(&f.Selection.Hard, "hard", false, "hard cases for half of the examples: repeated digits, long carries; of copy, reverse and addition")
	c.Flags().StringVar(&f.File, "data", "", "evaluate on the examples in this `file` instead")
	c.Flags().StringVar(&f.errors, "errors", "", "write wrong answers to this `file`")
	c.Flags().BoolVar(&f.TeacherForced, "teacher-forced", false, "predict every token from the true tokens before it")
	c.Flags().BoolVar(&f.ComputeHalted, "compute-halted", false, "compute halted positions too: the same results with more work; not for decoded answers")
	c.Flags().BoolVar(&f.diagnose, "diagnose", false, "analyse wrong answers, and whether attention finds the right token")
	c.Flags().BoolVar(&f.newest, "newest", false, "evaluate the newest checkpoint instead of the best")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "where the data are now, as in task.path=moved/pairs.tsv; may be repeated (`path=file`)")
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
		return usagef("--hard and --data are both given: choose one")
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
	if err := writable(f.errors); err != nil {
		return err
	}
	return cmp.Or(checkLengths(c, f.MaxLength), checkBeam(c, &f.Beam), f.exit.check(c))
}

// run evaluates every run. With several, what is not a run is skipped, and the others are evaluated although one cannot be.
func (f *evalFlags) run(c *cobra.Command, runs []string) error {
	list, failed := []measured{}, 0
	for _, dir := range runs {
		err := f.evaluate(c, dir, &list)
		var wrong usageError
		switch {
		case err == nil:
		case len(runs) == 1 || c.Context().Err() != nil || errors.As(err, &wrong) || errors.Is(err, errInterrupted):
			return withFoundRuns(err, dir)
		case errors.Is(err, runlog.ErrNotRun):
			c.PrintErrf("ut: skipped %s\n", oneLine(err))
		default:
			c.PrintErrf("ut: %s\n", oneLine(err))
			failed++
		}
	}
	if len(list)+failed == 0 {
		return fmt.Errorf("none of %s is a run directory", strings.Join(runs, ", "))
	}
	if err := f.print(c.OutOrStdout(), list, len(runs) > 1); err != nil {
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
	entries, _ := filepath.Glob(filepath.Join(dir, "*", "config.json"))
	if len(entries) == 0 {
		return err
	}
	return fmt.Errorf("%w; to evaluate the runs in it: ut eval %s", err, filepath.Join(dir, "*"))
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
		if err := f.exit.apply(m); err != nil {
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
		var d *pipeline.Diagnosis
		if f.diagnose {
			if d, err = m.Diagnose(c.Context(), e); err != nil {
				return err
			}
		}
		*list = append(*list, measured{runlog.Version(), dir, m.Run.Name, m.Step, e, d, f.exit.exit.String(), m.Parameters(), m.TrainingSeconds(), time.Since(start).Seconds()})
		return f.writeErrors(m, e)
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

// asFlag returns an error for a selection as one that names the flag.
func asFlag(err error) error {
	var wrong *task.SelectionError
	if errors.As(err, &wrong) {
		return fmt.Errorf("--%w", wrong)
	}
	return err
}
