package paper

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

// table7 is translation, section 3.6: the paper's own data need an accelerator; what is measured is small data.
var table7 = &Table{
	Name:        "table7",
	Title:       "Translation, English to German (section 3.6)",
	Experiments: translationExperiments(),
	Needs: []Need{
		{"multi30k", "multi30k", "the Multi30k data set, folder or archive with tok/ and raw/"},
		{"news", "wmt_news", "the WMT news tests, folder or archive with newstest2014.en-de.en"},
	},
	Measure:  measureTranslation,
	New:      func() Measured { return new(translationMeasured) },
	Overview: translationOverview,
	Write:    writeTranslation,
}

// translationModel is a row of the small tables.
type translationModel struct {
	suffix string // in names of experiments
	title  string
	only   string // the one data set that it is trained on; "": all
}

// has reports whether the model is trained on a data set.
func (m translationModel) has(label string) bool { return m.only == "" || m.only == label }

var translationModels = []translationModel{
	{"-tiny", "Transformer, the smallest published: 4 layers, width 128", publishedData},
	{"-transformer", "Transformer with the same number of parameters: 6 layers, width 76", ""},
	{"", "Universal Transformer: 6 steps, width 192", ""},
	{"-adaptive", "UT with dynamic halting", publishedData},
}

// translationData is one of the small data sets: a task of every experiment.
type translationData struct {
	label string
	note  string // what its BLEU is
	sets  []translationSet
}

// translationSet is what a model is measured on.
type translationSet struct {
	name       string
	corpus     translation.Corpus
	validation bool // chooses the length penalty, and is not in the table
}

var translationTasks = []translationData{
	{
		label: "multi30k", sets: multi30kSets("tok/", ".lc.norm.tok"),
		note: "29,000 captions, lower-cased and tokenized. BLEU is computed on this form without further tokenization, which makes it the only set here with a published result to compare with.",
	},
	{
		label: "multi30k-raw", sets: multi30kSets("raw/", ""),
		note: "The same captions in their original form: sacreBLEU's default, 13a, case-sensitive.",
	},
	{
		label: "news", sets: []translationSet{
			{name: "newstest2013", corpus: translation.Corpus{Source: "newstest2013.en-de.en", Target: "newstest2013.en-de.de"}, validation: true},
			{name: "newstest2014", corpus: translation.Corpus{Source: "newstest2014.en-de.en", Target: "newstest2014.en-de.de"}},
		},
		note: "31,000 sentences of news, 1 % of the paper's training data: a low-resource setting that is not comparable with the paper. BLEU is sacreBLEU's default.",
	},
}

func multi30kSets(folder, suffix string) (sets []translationSet) {
	for _, s := range []translationSet{{name: "val", validation: true}, {name: "test_2016_flickr"}, {name: "test_2017_flickr"}, {name: "test_2017_mscoco"}} {
		s.corpus = translation.Corpus{Source: folder + s.name + suffix + ".en", Target: folder + s.name + suffix + ".de"}
		sets = append(sets, s)
	}
	return sets
}

func translationExperiments() (list []Experiment) {
	for _, m := range translationModels {
		e := Experiment{Name: "translation" + m.suffix, Summary: m.title}
		for _, t := range translationTasks {
			if m.has(t.label) {
				e.Tasks = append(e.Tasks, t.label)
			}
		}
		list = append(list, e)
	}
	return list
}

func dataOf(label string) translationData {
	return translationTasks[slices.IndexFunc(translationTasks, func(t translationData) bool { return t.label == label })]
}

// Beam search is as wide as the authors'. The validation sentences choose its length penalty: the authors' is 0.6, but models of little data
// end their translations too early with it.
const beamWidth = 4

var lengthPenalties = []float64{0.6, 0.8, 1, 1.2, 1.35, 1.5}

// translationMeasured is what one run came to.
type translationMeasured struct {
	Sets []translatedSet `json:"sets"`
}

// translatedSet is a set of sentences, translated by beam search.
type translatedSet struct {
	Name      string   `json:"name"`
	Sentences int      `json:"sentences"`
	Method    string   `json:"method"`
	Alpha     float64  `json:"alpha"` // length penalty
	BLEU      float64  `json:"bleu"`
	ChrF      float64  `json:"chrf"`
	Notes     []string `json:"notes"` // both with their signatures
	Seconds   float64  `json:"seconds"`
}

// Validate names what cannot be.
func (m *translationMeasured) Validate() error {
	if len(m.Sets) == 0 {
		return errors.New("sets are missing")
	}
	for i, s := range m.Sets {
		switch {
		case s.Name == "":
			return fmt.Errorf("sets[%d].name is empty", i)
		case s.Sentences < 1:
			return fmt.Errorf("sets[%d].sentences is %d", i, s.Sentences)
		case !(s.BLEU >= 0 && s.BLEU <= 100):
			return fmt.Errorf("sets[%d].bleu is %v", i, s.BLEU)
		case !(s.ChrF >= 0 && s.ChrF <= 100):
			return fmt.Errorf("sets[%d].chrf is %v", i, s.ChrF)
		}
	}
	return nil
}

// Summary is the sets in a line.
func (m *translationMeasured) Summary() string {
	var parts []string
	for _, s := range m.Sets {
		parts = append(parts, fmt.Sprintf("%s: %.2f BLEU", s.Name, s.BLEU))
	}
	return strings.Join(parts, ", ")
}

// set is the set of a name, nil if it was not measured.
func (m *translationMeasured) set(name string) *translatedSet {
	if at := slices.IndexFunc(m.Sets, func(s translatedSet) bool { return s.Name == name }); at >= 0 {
		return &m.Sets[at]
	}
	return nil
}

// measureTranslation translates every set, the validation sentences first, which choose the length penalty. A set whose files are not there is
// left out.
func measureTranslation(ctx context.Context, m *pipeline.Model, c Cell, log func(string)) (Measured, error) {
	definition := m.Run.Task.Value.(translation.Translation)
	evaluator := m.Evaluator()
	evaluator.Beam = decoding.Beam{Width: beamWidth, Alpha: lengthPenalties[0]}
	found := &translationMeasured{}
	for _, s := range dataOf(sweep.Column(c.Recipe)).sets {
		examples, notes, err := definition.Examples(m.Vocabularies, s.corpus)
		if errors.Is(err, os.ErrNotExist) {
			log(fmt.Sprintf("%s is not measured: %v", s.name, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, line := range notes {
			log(line)
		}
		if m.Run.SourceEnd {
			examples = task.WithEnds(examples)
		}
		penalties := []float64{evaluator.Beam.Alpha}
		if s.validation {
			penalties = lengthPenalties
		}
		best, err := translateSet(ctx, evaluator, definition.Measure(m.Vocabularies), examples, penalties)
		if err != nil {
			return nil, err
		}
		best.Name = s.name
		evaluator.Beam.Alpha = best.Alpha
		found.Sets = append(found.Sets, best)
	}
	return found, nil
}

// translateSet is the measurement with the length penalty that has the best BLEU.
func translateSet(ctx context.Context, e *evaluation.Evaluator, measure task.Measure, examples []task.Example, penalties []float64) (best translatedSet, err error) {
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
		best = translatedSet{
			Sentences: len(examples), Method: row.Method, Alpha: alpha, BLEU: row.Metrics[0].Value, ChrF: row.Metrics[1].Value,
			Notes: row.Notes, Seconds: time.Since(start).Seconds(),
		}
	}
	return best, nil
}
