package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"universal-transformer/bleu"
	"universal-transformer/decoding"
	"universal-transformer/experiment"
	"universal-transformer/internal/quantity"
	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/translation"
)

// Paired is the paired bootstrap test (Koehn, 2004) of two runs of table 7 with the same seed: the Universal Transformer and another row, on
// the set by which a column is compared. Resamples and p are those of sacreBLEU. The test is over the sentences of the set and says nothing
// about other seeds.
type Paired struct {
	Row          string           `json:"row"`      // of the Universal Transformer: "translation"
	Baseline     string           `json:"baseline"` // the other row: "translation-transformer"
	Column       string           `json:"column"`
	Seed         uint64           `json:"seed"` // of both runs
	Set          string           `json:"set"`
	Sentences    int              `json:"sentences"`
	BLEU         float64          `json:"bleu"` // of Row
	BaselineBLEU float64          `json:"baseline_bleu"`
	Difference   float64          `json:"difference"` // BLEU minus BaselineBLEU
	P            float64          `json:"p"`          // two-sided, not corrected
	Samples      int              `json:"samples"`
	SamplesSeed  uint32           `json:"samples_seed"`
	MeasuredBy   sweep.Provenance `json:"measured_by"`
}

// File returns the path of the test below a folder of results. All tests of a table have the same Row.
func (p Paired) File() string {
	return filepath.Join(sweep.PairedFolder, fmt.Sprintf("%s-%s-seed%d.json", p.Baseline, p.Column, p.Seed))
}

// Validate returns an error that names the first invalid field.
func (p Paired) Validate() error {
	counted := p.P * float64(p.Samples+1) // resamples with a larger difference, and one
	switch {
	case p.Row == "" || p.Baseline == "" || p.Column == "" || p.Set == "":
		return errors.New("row, baseline, column or set is empty")
	case p.Sentences < 1:
		return fmt.Errorf("sentences is %d", p.Sentences)
	case !(p.BLEU >= 0 && p.BLEU <= 100):
		return fmt.Errorf("bleu is %v", p.BLEU)
	case !(p.BaselineBLEU >= 0 && p.BaselineBLEU <= 100):
		return fmt.Errorf("baseline_bleu is %v", p.BaselineBLEU)
	case p.Difference != p.BLEU-p.BaselineBLEU:
		return fmt.Errorf("difference is %v: bleu minus baseline_bleu is %v", p.Difference, p.BLEU-p.BaselineBLEU)
	case p.Samples < 1:
		return fmt.Errorf("samples is %d", p.Samples)
	case !(counted > 0.5 && p.P <= 1) || math.Abs(counted-math.Round(counted)) > 1e-6:
		return fmt.Errorf("p is %v: it must be one of 1/%[2]d, 2/%[2]d, ..., 1", p.P, p.Samples+1)
	case p.MeasuredBy.Version == "" || p.MeasuredBy.Backend == "":
		return errors.New("measured_by has no version or no backend")
	}
	if err := p.MeasuredBy.Validate(); err != nil {
		return fmt.Errorf("measured_by.%w", err)
	}
	return nil
}

// Summary returns the figures in one line.
func (p Paired) Summary() string {
	return fmt.Sprintf("%s, seed %d, %s: %s %.2f, %s %.2f BLEU, difference %+.2f, p = %.4f", p.Column, p.Seed, p.Set, p.Row, p.BLEU, p.Baseline, p.BaselineBLEU, p.Difference, p.P)
}

// Save writes the test below a folder of results atomically.
func (p Paired) Save(root string) error { return sweep.Save(filepath.Join(root, p.File()), p) }

// A PairRequest selects two runs of table 7 that have results: the Universal Transformer and another row.
type PairRequest struct {
	Row, Column   string // the other row, and the column of both
	Seed          uint64 // of both
	Runs, Results string // folders
	Data          string // path of the task's data; "": where they were in training, or beside the run
	Load          func(dir string) (*pipeline.Model, error)
}

// ErrNoData is the error of a test whose sentences are not found.
var ErrNoData = errors.New("the data are missing")

// Test translates the set with both models, as they were measured, and compares the translations. It is an error if BLEU differs from that of
// the results. MeasuredBy is left empty.
func (r PairRequest) Test(ctx context.Context, log func(line string)) (p Paired, err error) {
	own, other, err := r.cells()
	if err != nil {
		return p, err
	}
	set := own.Column.Figures[0].Set
	x, err := r.translated(ctx, own, set, log)
	if err != nil {
		return p, err
	}
	y, err := r.translated(ctx, other, set, log)
	if err != nil {
		return p, err
	}
	if !slices.Equal(x.references, y.references) {
		return p, fmt.Errorf("%s and %s have different references of %s", own.Recipe(), other.Recipe(), set)
	}
	found, err := x.config.Compare(y.hypotheses, x.hypotheses, [][]string{x.references}, bleu.Resampling{})
	if err != nil {
		return p, err
	}
	return Paired{
		Row: own.Row.Family, Baseline: other.Row.Family, Column: own.Column.Name, Seed: r.Seed, Set: set, Sentences: len(x.references),
		BLEU: found.System.Value, BaselineBLEU: found.Baseline.Value, Difference: found.System.Value - found.Baseline.Value,
		P: found.P, Samples: found.Samples, SamplesSeed: found.Seed,
	}, nil
}

// cells returns the cells of the Universal Transformer and of the other row.
func (r PairRequest) cells() (own, other paper.Cell, err error) {
	t := paper.Table7()
	found, err := t.Cells([]string{r.Row}, []string{r.Column})
	if err != nil {
		return own, other, err
	}
	other = found[0]
	own = paper.Cell{Row: t.Rows[slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Own })], Column: other.Column}
	if other.Row.Own {
		err = fmt.Errorf("row %s is the Universal Transformer, which is compared with the others: name another row", other.Row.Family)
	}
	return own, other, err
}

// translated is a set that a run has translated.
type translated struct {
	hypotheses, references []string
	config                 bleu.Config
	bleu                   float64
}

// translated translates a set with the run of a cell and checks that BLEU is that of its result.
func (r PairRequest) translated(ctx context.Context, cell paper.Cell, set string, log func(string)) (found translated, err error) {
	c := sweep.Cell{Recipe: cell.Recipe(), Run: experiment.Run{Seed: r.Seed}, Runs: r.Runs, Results: r.Results, New: func() sweep.Measured { return new(Translation) }}
	result, measured, done, err := c.Done()
	if err != nil {
		return found, err
	}
	if !done {
		return found, fmt.Errorf("%s has no result in %s: run that cell first", c.Name(), r.Results)
	}
	known := measured.(*Translation).Set(set)
	if known == nil {
		return found, fmt.Errorf("the result of %s in %s has no set %s", c.Name(), r.Results, set)
	}
	m, definition, err := r.load(c, result, log)
	if err != nil {
		return found, err
	}
	defer m.Close()
	sets := corpora(cell.Column.Name)
	examples, err := sets[slices.IndexFunc(sets, func(s sentences) bool { return s.name == set })].examples(m, definition, log)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrNoData, err)
	}
	if err != nil {
		return found, err
	}
	log(fmt.Sprintf("%s: translating %s of %s", c.Name(), quantity.Regular(len(examples), "sentences"), set))
	found, err = decoded(ctx, m, definition, examples, known.Alpha)
	if err == nil && (found.bleu != known.BLEU || len(examples) != known.Sentences) {
		err = fmt.Errorf("%s has %v BLEU on %s, %d sentences; its result has %v, %d sentences, measured by %s with %s: use the same data, build and backend",
			c.Name(), found.bleu, set, len(examples), known.BLEU, known.Sentences, result.MeasuredBy.Build(), result.MeasuredBy.Backend)
	}
	return found, err
}

// decoded translates examples with the beam of the table and a length penalty.
func decoded(ctx context.Context, m *pipeline.Model, definition translation.Translation, examples []task.Example, alpha float64) (found translated, err error) {
	by, e := definition.Measure(m.Vocabularies).(task.DecodedBLEU), m.Evaluator()
	e.Beam = decoding.Beam{Width: beamWidth, Alpha: alpha}
	row, err := e.Measure(ctx, by, examples)
	if err != nil {
		return found, err
	}
	found.config, found.bleu = by.Config, row.Metrics[0].Value
	for i, answer := range row.Answers {
		found.hypotheses, found.references = append(found.hypotheses, by.Text(answer.Tokens)), append(found.references, by.Text(examples[i].Target))
	}
	return found, nil
}

// load loads the model of a cell, which must be the one of the result. The caller must close it.
func (r PairRequest) load(c sweep.Cell, result sweep.Result, log func(string)) (*pipeline.Model, translation.Translation, error) {
	trained := c
	var err error
	if trained.Run, err = pipeline.ReadRunOfData(c.Dir(), log); err != nil {
		return nil, translation.Translation{}, err
	}
	definition, ok := trained.Run.Task.Value.(translation.Translation)
	if !ok || trained.Changed(result) {
		return nil, definition, fmt.Errorf("%s has another configuration than the result of %s", c.Dir(), c.Name())
	}
	if r.Data != "" {
		definition.Path = r.Data
	}
	m, err := r.Load(c.Dir())
	if err != nil {
		return nil, definition, err
	}
	for _, note := range m.Notes {
		log(c.Name() + ": " + note)
	}
	if m.Step != result.BestStep {
		m.Close()
		return nil, definition, fmt.Errorf("%s has the checkpoint of update %d, its result that of update %d", c.Dir(), m.Step, result.BestStep)
	}
	return m, definition, nil
}
