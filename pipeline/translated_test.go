package pipeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// words is a file in which the letters of a text have the frequencies of their place: the first is the most frequent. Every line has three
// columns: letters, letters again in capitals, and one of the classes.
func words(t *testing.T, letters string, classes ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("source\ttarget\tlabel\n")
	rng := rand.New(rand.NewPCG(1, uint64(len(letters))))
	for range 120 {
		var word strings.Builder
		for range 6 {
			word.WriteByte(letters[min(rng.IntN(len(letters)), rng.IntN(len(letters)))])
		}
		fmt.Fprintf(&b, "%s%d\t%s\t%s\n", word.String(), rng.IntN(2), strings.ToUpper(word.String()), classes[min(rng.IntN(len(classes)), rng.IntN(len(classes)))])
	}
	path := filepath.Join(t.TempDir(), "words.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tables holds the parameters that belong to tokens, by name: a list of numbers for each token.
func tables(t *testing.T, dir string) map[string]map[string][]float32 {
	t.Helper()
	m, err := pipeline.LoadOptions{Newest: true}.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	found := map[string]map[string][]float32{}
	for _, p := range training.Parameters(lastCheckpoint(t, dir).Tensors) {
		axis, of := 0, m.Vocabularies.Target
		switch p.Name {
		case "embedding.source":
			of = m.Vocabularies.Source
		case "embedding.target":
		case "readout.weight":
			axis = 1
		default:
			continue
		}
		found[p.Name] = map[string][]float32{}
		for id := range p.Shape[axis] {
			token := of.Token(vocab.ID(id))
			for at := range p.Shape[1-axis] {
				row, column := id, at
				if axis == 1 {
					row, column = at, id
				}
				i := 4 * (row*p.Shape[1] + column)
				bits := uint32(p.Data[i]) | uint32(p.Data[i+1])<<8 | uint32(p.Data[i+2])<<16 | uint32(p.Data[i+3])<<24
				found[p.Name][token] = append(found[p.Name][token], math.Float32frombits(bits))
			}
		}
	}
	return found
}

// pretrainedKinds are runs of all kinds of tables: apart, shared and tied, factored, classes, of an LSTM and of a language model.
func pretrainedKinds(t *testing.T) map[string]experiment.Run {
	base := brief(t, pairs())
	model := base.Model.Value.(experiment.EncoderDecoder).Universal
	pairs := table.Table{SourceColumn: "source", TargetColumn: "target", HeldOut: 0.3}
	kind := func(of task.Definition, m experiment.ModelKind) experiment.Run {
		r := base
		r.Task, r.Model = experiment.Task{Value: of}, experiment.Model{Value: m}
		return r
	}
	tied, factored, shared := model, model, model
	tied.TiedReadout = true
	shared.TiedReadout, shared.SharedEmbedding = true, true
	factored.TiedReadout, factored.EmbeddingWidth = true, 3
	return map[string]experiment.Run{
		"apart":          kind(pairs, experiment.EncoderDecoder{Universal: model}),
		"tied":           kind(pairs, experiment.EncoderDecoder{Universal: tied}),
		"shared":         kind(table.Table{SourceColumn: "source", TargetColumn: "target", HeldOut: 0.3, SharedVocabulary: true}, experiment.EncoderDecoder{Universal: shared}),
		"factored":       kind(pairs, experiment.EncoderDecoder{Universal: factored}),
		"LSTM":           kind(pairs, experiment.LSTMEncoderDecoder{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: 8, Layers: 1}}}),
		"classes":        kind(labels.Labels{TextColumn: "source", LabelColumn: "label", HeldOut: 0.3, Tokenizer: vocab.Characters}, experiment.Classifier{Pool: experiment.MeanPool, Universal: model}),
		"language model": kind(text.Text{Length: 8}, experiment.LanguageModel{Universal: model}),
	}
}

// at is the run on a file.
func at(r experiment.Run, path string) experiment.Run {
	switch d := r.Task.Value.(type) {
	case table.Table:
		d.Path = path
		r.Task.Value = d
	case labels.Labels:
		d.Path = path
		r.Task.Value = d
	case text.Text:
		d.Path = path
		r.Task.Value = d
	}
	return r
}

// A run that starts from another one finds its tokens by name: those of the same letters in another order of frequency, hence with other
// ids, have the rows of embeddings and the columns of readouts that they had; new ones have those of a new run, and are reported. With a
// learning rate that changes nothing, the tables stay as they begin. Caught when planted: rows by id; columns as rows; source and target
// exchanged; new rows of zeros; classes by id; no report.
func TestPretrainedFindsTokens(t *testing.T) {
	before, after := words(t, "abcdefg", "red", "green", "blue"), words(t, "ghfaxcbed", "blue", "white", "red")
	for name, r := range pretrainedKinds(t) {
		t.Run(name, func(t *testing.T) {
			train := func(r experiment.Run, log func(string)) map[string]map[string][]float32 {
				dir := filepath.Join(t.TempDir(), "run")
				if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{Log: log}); err != nil {
					t.Fatal(err)
				}
				r.Training.Pretrained = dir
				return tables(t, dir)
			}
			dir := filepath.Join(t.TempDir(), "from")
			if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), at(r, before), dir, pipeline.Callbacks{}); err != nil {
				t.Fatal(err)
			}
			from := tables(t, dir)
			still := at(r, after)
			still.Seed, still.Training.Schedule.Value = r.Seed+1, schedule.Constant{LearningRate: 1e-30}
			still.Training.Average, still.Training.WeightDecay, still.Training.Muon = 0, 0, 0
			fresh := train(still, nil)
			still.Training.Pretrained = dir
			var said []string
			tuned := train(still, func(line string) { said = append(said, line) })
			kept, made := 0, 0
			for table, rows := range tuned {
				for token, row := range rows {
					want, known := from[table][token]
					if kept++; !known {
						want, kept, made = fresh[table][token], kept-1, made+1
						if !slices.ContainsFunc(said, func(line string) bool {
							return strings.Contains(line, "are new and begin with random weights") && strings.Contains(line, fmt.Sprintf("%q", token))
						}) {
							t.Errorf("%s: new token %q is not reported: %q", table, token, said)
						}
					}
					for i := range row {
						if math.Abs(float64(row[i]-want[i])) > 1e-20 {
							t.Errorf("%s: token %q, known %v, begins with %v, want %v", table, token, known, row, want)
							break
						}
					}
				}
			}
			if kept < 8 || made < 2 {
				t.Errorf("%d tokens are known, %d new: the case shows nothing", kept, made)
			}
		})
	}
}

// A classifier learns other classes of other texts: both classes are new, and messages have subwords as text, except parts of characters.
// Caught when planted: a run without a common class refused, byte marks in messages.
func TestPretrainedOtherClasses(t *testing.T) {
	write := func(text string, classes ...string) string {
		var rows strings.Builder
		for i := range 90 {
			fmt.Fprintf(&rows, "%s %d\t%s\n", text, i, classes[i%len(classes)])
		}
		path := filepath.Join(t.TempDir(), "labels.tsv")
		if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := brief(t, pairs())
	model := r.Model.Value.(experiment.EncoderDecoder).Universal
	r.Model.Value = experiment.Classifier{Pool: experiment.MeanPool, Universal: model}
	r.Training.Decoded, r.Training.BestByMeasure, r.Training.Steps = 0, false, 1
	config := labels.Labels{Path: write("the café", "good", "bad"), HeldOut: 0.3, Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 264}}
	r.Task.Value = config
	from := filepath.Join(t.TempDir(), "from")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, from, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	config.Path = write("our house", "yes", "no")
	r.Task.Value, r.Training.Pretrained = config, from
	var said []string
	log := pipeline.Callbacks{Log: func(line string) { said = append(said, line) }}
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, filepath.Join(t.TempDir(), "to"), log); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{`2 of 4 target tokens are new and begin with random weights: "`, `2 target tokens of that run do not occur here: "`, `" house"`, `"the"`} {
		if !strings.Contains(all, want) {
			t.Errorf("the messages lack %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "Ġ") {
		t.Errorf("byte marks:\n%s", all)
	}
}
