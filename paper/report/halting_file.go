package report

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/internal/regularfile"
	"universal-transformer/sweep"
)

// HaltingFile is a sweep of one task over fixed depths and objectives of halting: halting/NAME.json below the results, a file of ut sweep, with
// the results of its finished runs in the folder halting/NAME.
type HaltingFile struct {
	Name    string // of the task and the file: "hops"
	file    sweep.File
	measure string // the metric that is compared, an accuracy
	updates int    // of every run
	limit   int    // deepest fixed depth, and the step limit of all other rows
	rows    []haltingRow
	by      []string // builds and machines that trained
	counts  []int    // numbers of validation examples
}

// haltingRow is a variant of a HaltingFile with its finished seeds.
type haltingRow struct {
	name  string // of the variant
	title string // what is trained; the same in all files
	fixed int    // number of steps of every position; 0 if halting is adaptive
	plain bool   // fixed depth, trained by the final answer alone

	seeds            []uint64  // finished, as all lists below
	accuracy         []float64 // of the validation examples
	seconds          []float64 // processor time of training
	encoder, decoder []float64 // mean steps over positions; decoder may be empty
	answer, last     []float64 // mean steps of the last position, or of the last tenth of longer sequences; one of them or both are empty
}

// ReadHalting reads the sweeps in the folder halting below the results strictly, by name, but for those without any result. There may be none.
func ReadHalting(root string) (list []HaltingFile, err error) {
	folder := filepath.Join(root, sweep.HaltingFolder)
	names, err := jsonFiles(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		results, err := sweep.ReadAll(filepath.Join(folder, strings.TrimSuffix(name, ".json")))
		if err != nil { // which names the file of the result
			return nil, err
		}
		f, err := readHalting(filepath.Join(folder, name), results)
		if err != nil {
			return nil, damaged(filepath.Join(folder, name), err, "restore the comparison and its results, or repeat it")
		}
		if len(f.counts) > 0 {
			list = append(list, f)
		}
	}
	return list, nil
}

// readHalting reads the file of a sweep with these results.
func readHalting(file string, results []sweep.Result) (f HaltingFile, err error) {
	data, err := regularfile.Read(file)
	if err != nil {
		return f, err
	}
	s := Search{Measure: byAccuracy}
	if s.file, err = sweep.ParseFile(data); err != nil {
		return f, err
	}
	if s.points, err = s.file.Points(); err != nil {
		return f, err
	}
	f.Name, f.file = strings.TrimSuffix(filepath.Base(file), ".json"), s.file
	if s.file.Name != f.Name || !s.file.Measure.Validation {
		return f, fmt.Errorf("name is %q and measure.validation %v: they must be that of the file and true", s.file.Name, s.file.Measure.Validation)
	}
	for _, p := range s.points {
		f.rows = append(f.rows, haltingRow{name: p.Name})
	}
	var first experiment.Run
	for i, r := range results {
		c, err := s.configured(r)
		if err == nil {
			err = f.add(r, c.run)
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", r.Name(), err)
		}
		run, err := c.run.Set(withoutObjective...)
		if i == 0 {
			first = run
		}
		run.Name, run.Seed = first.Name, first.Seed
		if fields := different(run, first); err == nil && len(fields) > 0 {
			err = fmt.Errorf("%s is %v, that of %s is %v: rows may differ in halting and what is trained alone", fields[0], run.Fields()[fields[0]], results[0].Name(), first.Fields()[fields[0]])
		}
		if err != nil {
			return f, fmt.Errorf("%s: config: %w", r.Name(), err)
		}
	}
	return f, f.validate()
}

// withoutObjective makes runs equal that differ in halting and what is trained alone.
var withoutObjective = []string{
	`model.halting={"fixed": {"steps": 1}}`, `training.ponder={"weight": 0, "delay": 0, "warmup": 0}`, "training.ponder_cost={}", "training.supervision={}",
}

// add adds a finished run.
func (f *HaltingFile) add(r sweep.Result, run experiment.Run) error {
	var m sweep.Metrics
	if err := r.Decode(&m); err != nil {
		return err
	}
	accuracy, ok := 0.0, false
	for _, metric := range m.Metrics {
		if metric.Name == "accuracy" || metric.Name == "sequence accuracy" {
			f.measure, accuracy, ok = metric.Name, metric.Value, true
		}
	}
	switch {
	case r.ChosenBy != sweep.ByAccuracy:
		return fmt.Errorf("chosen_by is %q: it must be %q", r.ChosenBy, sweep.ByAccuracy)
	case !ok:
		return errors.New("it has no metric accuracy or sequence accuracy")
	case !r.TrainedBy.Recorded() || !r.MeasuredBy.Recorded():
		return errors.New("trained_by or measured_by is empty")
	case r.TrainedBy.CPUSeconds == 0:
		return errors.New("trained_by has no cpu_seconds")
	}
	var row *haltingRow
	for i := range f.rows {
		if f.rows[i].name == r.Recipe {
			row = &f.rows[i]
		}
	}
	limit := 0
	row.title, row.fixed, limit, row.plain = objectiveOf(run)
	if f.limit = max(f.limit, limit); limit == 0 {
		return errors.New("config: halting is neither fixed nor frozen")
	}
	f.updates = int(r.Step)
	row.seeds, row.accuracy, row.seconds = append(row.seeds, r.Seed), append(row.accuracy, accuracy), append(row.seconds, r.TrainedBy.CPUSeconds)
	trained := r.TrainedBy
	trained.WallSeconds = 0 // the page does not show the time of each run
	f.by, f.counts = appendNew(f.by, by(trained)), appendNew(f.counts, m.Examples)
	return row.addSteps(m, limit)
}

// addSteps adds the steps of a run, of which there are at most limit.
func (r *haltingRow) addSteps(m sweep.Metrics, limit int) error {
	if r.fixed > 0 {
		return nil
	}
	if m.Encoder == nil {
		return errors.New("measured: encoder_steps is missing")
	}
	r.encoder = append(r.encoder, m.Encoder.Mean)
	if m.Decoder != nil {
		r.decoder = append(r.decoder, m.Decoder.Mean)
	}
	for _, of := range [][]float64{r.encoder, r.decoder} {
		if n := len(of); n > 0 && of[n-1] > float64(limit) {
			return fmt.Errorf("measured: a mean of %v steps: the limit is %d", of[n-1], limit)
		}
	}
	// A tenth without positions means that no sequence has ten, so that the last tenth with any holds the last position alone.
	for i := len(m.Encoder.Tenths) - 1; i >= 0 && m.Decoder == nil; i-- {
		if last := m.Encoder.Tenths[i]; last != nil {
			if i < len(m.Encoder.Tenths)-1 {
				r.answer = append(r.answer, *last)
			} else {
				r.last = append(r.last, *last)
			}
			break
		}
	}
	return nil
}

// validate returns an error unless there are fixed depths of 1 to the limit of all other rows, each of which has a seed in common with them.
func (f *HaltingFile) validate() error {
	for n := 1; n <= f.limit; n++ {
		if !slices.ContainsFunc(f.rows, func(r haltingRow) bool { return r.plain && r.fixed == n }) {
			return fmt.Errorf("it has no result of a fixed depth of %d, but rows with up to %d steps", n, f.limit)
		}
		for _, r := range f.rows {
			if !r.plain && len(r.seeds) > 0 && r.against(f.depth(n)).n == "0" {
				return fmt.Errorf("%s has no seed in common with a fixed depth of %s", r.name, count(n, "step"))
			}
		}
	}
	return nil
}

// objectiveOf describes what a run trains. limit is its largest number of steps, 0 if its halting is neither fixed nor frozen.
func objectiveOf(run experiment.Run) (title string, fixed, limit int, plain bool) {
	fields := run.Fields()
	number := func(name string) float64 { // of the only field that ends in the name
		for field, v := range fields {
			if strings.HasSuffix(field, name) {
				n, _ := v.(float64)
				return n
			}
		}
		return 0
	}
	if fixed = int(number(".halting.fixed.steps")); fixed > 0 {
		if _, ok := fields["training.supervision.uniform"]; ok {
			return fmt.Sprintf("every step supervised alike, %d steps", fixed), fixed, fixed, false
		}
		return "fixed depth, " + count(fixed, "step"), fixed, fixed, true
	}
	title = "Graves' cost"
	if lambda, ok := fields["training.ponder_cost.geometric_prior.lambda"]; ok {
		title = fmt.Sprintf("geometric prior, lambda %v", lambda)
	}
	updates, delay, warmup := number("training.steps"), number("training.ponder.delay"), number("training.ponder.warmup")
	var schedule []string
	if delay > 0 {
		schedule = append(schedule, fmt.Sprintf(" after %.0f %%", 100*delay/updates))
	}
	if warmup > 0 {
		schedule = append(schedule, fmt.Sprintf(" in full after %.0f %%", 100*(delay+warmup)/updates))
	}
	if len(schedule) > 0 {
		title += strings.Join(schedule, ",") + " of the updates"
	}
	title += fmt.Sprintf(", bias %v, weight %v", number(".halting.frozen.bias"), number("training.ponder.weight"))
	return title, 0, int(number(".halting.frozen.max_steps")), false
}

// appendNew appends a value that the list does not have.
func appendNew[T comparable](list []T, v T) []T {
	for _, old := range list {
		if old == v {
			return list
		}
	}
	return append(list, v)
}
