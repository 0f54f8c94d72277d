package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/internal/evaluation"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/translation"
)

// Translation is the measurement of one run of table 7: translated sets of sentences.
type Translation struct {
	Sets []TranslatedSet `json:"sets"`
}

// TranslatedSet is a set of sentences, translated by beam search.
type TranslatedSet struct {
	Name      string   `json:"name"`
	Sentences int      `json:"sentences"`
	Method    string   `json:"method"`
	Alpha     float64  `json:"alpha"` // length penalty
	BLEU      float64  `json:"bleu"`
	ChrF      float64  `json:"chrf"`
	Notes     []string `json:"notes"` // both scores with their signatures
	Seconds   float64  `json:"seconds"`
}

// Validate returns an error that names the first invalid field.
func (m *Translation) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	var names []string
	for _, s := range m.Sets {
		names = append(names, s.Name)
	}
	if err := checkNames(names); err != nil {
		return err
	}
	for i, s := range m.Sets {
		switch {
		case s.Sentences < 1:
			return fmt.Errorf("sets[%d].sentences is %d", i, s.Sentences)
		case !(s.BLEU >= 0 && s.BLEU <= 100):
			return fmt.Errorf("sets[%d].bleu is %v", i, s.BLEU)
		case !(s.ChrF >= 0 && s.ChrF <= 100):
			return fmt.Errorf("sets[%d].chrf is %v", i, s.ChrF)
		case !(s.Seconds >= 0):
			return fmt.Errorf("sets[%d].seconds is %v", i, s.Seconds)
		case !slices.Contains(LengthPenalties, s.Alpha) || s.Alpha != m.Sets[0].Alpha:
			return fmt.Errorf("sets[%d].alpha is %v: the first set chooses one of %v for all", i, s.Alpha, LengthPenalties)
		}
		if err := checkNotes(s); err != nil {
			return fmt.Errorf("sets[%d]: %w", i, err)
		}
	}
	return nil
}

// Summary returns the BLEU of all sets.
func (m *Translation) Summary() string {
	var parts []string
	for _, s := range m.Sets {
		parts = append(parts, fmt.Sprintf("%s: %.2f BLEU", s.Name, s.BLEU))
	}
	return strings.Join(parts, ", ")
}

// Set returns the set with a name, or nil if it was not measured.
func (m *Translation) Set(name string) *TranslatedSet {
	if at := slices.IndexFunc(m.Sets, func(s TranslatedSet) bool { return s.Name == name }); at >= 0 {
		return &m.Sets[at]
	}
	return nil
}

// beamWidth is the authors'.
const beamWidth = 4

// LengthPenalties lists the length penalties that are tried on validation sentences: with the authors' 0.6, models trained on little data
// end their translations too early.
var LengthPenalties = []float64{0.6, 0.8, 1, 1.2, 1.35, 1.5}

// sentences is a parallel corpus for measurements. Validation sentences come first.
type sentences struct {
	name       string
	corpus     translation.Corpus
	validation bool // whether it selects the length penalty
}

// corpora returns the sets of a column of table 7, below the path of its task.
func corpora(column string) []sentences {
	switch column {
	case "multi30k":
		return multi30k("tok/", ".lc.norm.tok")
	case "multi30k-raw":
		return multi30k("raw/", "")
	}
	return []sentences{
		{name: "newstest2013", corpus: translation.Corpus{Source: "newstest2013.en-de.en", Target: "newstest2013.en-de.de"}, validation: true},
		{name: "newstest2014", corpus: translation.Corpus{Source: "newstest2014.en-de.en", Target: "newstest2014.en-de.de"}},
	}
}

func multi30k(folder, suffix string) (sets []sentences) {
	for _, s := range []sentences{{name: "val", validation: true}, {name: "test_2016_flickr"}, {name: "test_2017_flickr"}, {name: "test_2017_mscoco"}} {
		s.corpus = translation.Corpus{Source: folder + s.name + suffix + ".en", Target: folder + s.name + suffix + ".de"}
		sets = append(sets, s)
	}
	return sets
}

// translations translates every set. A set with missing files is skipped.
func translations(ctx context.Context, m *pipeline.Model, c sweep.Cell, log func(string)) (sweep.Measured, error) {
	definition := m.Run.Task.Value.(translation.Translation)
	evaluator := m.Evaluator()
	evaluator.Beam = decoding.Beam{Width: beamWidth, Alpha: LengthPenalties[0]}
	measured := &Translation{}
	_, column, _ := strings.Cut(c.Recipe, "/")
	for _, s := range corpora(column) {
		examples, err := s.examples(m, definition, log)
		if errors.Is(err, os.ErrNotExist) {
			log(fmt.Sprintf("%s is not measured: %v", s.name, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		penalties := []float64{evaluator.Beam.Alpha}
		if s.validation {
			penalties = LengthPenalties
		}
		best, err := translate(ctx, evaluator, definition.Measure(m.Vocabularies), examples, penalties)
		if err != nil {
			return nil, err
		}
		best.Name = s.name
		evaluator.Beam.Alpha = best.Alpha
		measured.Sets = append(measured.Sets, best)
	}
	return measured, nil
}

// examples reads the sentences for a model, whose task is definition.
func (s sentences) examples(m *pipeline.Model, definition translation.Translation, log func(string)) ([]task.Example, error) {
	examples, notes, err := definition.Examples(m.Vocabularies, s.corpus)
	if err != nil {
		return nil, err
	}
	for _, line := range notes {
		log(line)
	}
	if m.Run.SourceEnd {
		examples = task.WithEnds(examples)
	}
	return examples, nil
}

// translate measures a set with every length penalty and returns the measurement with the best BLEU.
func translate(ctx context.Context, e *evaluation.Evaluator, measure task.Measure, examples []task.Example, penalties []float64) (best TranslatedSet, err error) {
	for i, alpha := range penalties {
		e.Beam.Alpha = alpha
		start := time.Now()
		row, err := e.Measure(ctx, measure, examples)
		if err != nil {
			return best, err
		}
		if i > 0 && row.Metrics[0].Value <= best.BLEU {
			continue
		}
		best = TranslatedSet{
			Sentences: len(examples), Method: row.Method, Alpha: alpha, BLEU: row.Metrics[0].Value, ChrF: row.Metrics[1].Value,
			Notes: row.Notes, Seconds: time.Since(start).Seconds(),
		}
	}
	return best, nil
}
