package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/answerstream"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/viewer"
)

// Attention of the last position, over two heads of the steps that it ran, two of three; none if it ran none.
// Caught when planted: steps that it did not run; a single step taken for none; the first position in place of the last.
func TestAttentionShares(t *testing.T) {
	attention := [][][][]float64{ // [step][head][query][key]
		{{{1, 0}, {0.2, 0.8}}, {{1, 0}, {0.4, 0.6}}}, {{{1, 0}, {0.0, 1}}, {{1, 0}, {0.2, 0.8}}}, {{{0, 1}, {1, 0}}, {{0, 1}, {1, 0}}},
	}
	for _, c := range []struct {
		ran  float64
		want []AttentionShare
	}{
		{2, []AttentionShare{{1, (0.8 + 0.6 + 1 + 0.8) / 4}, {0, (0.2 + 0.4 + 0 + 0.2) / 4}}}, {1, []AttentionShare{{1, 0.7}, {0, 0.3}}}, {0, nil},
		{9, []AttentionShare{{1, 3.2 / 6}, {0, 2.8 / 6}}},
	} {
		got := attentionShares(&viewer.Stack{Tokens: []string{"a", "b"}, Updates: []float64{3, c.ran}, Attention: attention})
		if len(got) != len(c.want) {
			t.Fatalf("%v steps: %v, want %v", c.ran, got, c.want)
		}
		for i, share := range got {
			if share.Position != c.want[i].Position || math.Abs(share.Share-c.want[i].Share) > 1e-12 {
				t.Errorf("%v steps: %v, want %v", c.ran, got, c.want)
			}
		}
	}
}

// A flat list of 2 heads, 3 queries and 4 keys; and what a trace keeps of steps that no position ran.
// Caught when planted: another stride.
func TestFoldAndCrop(t *testing.T) {
	flat := make([]float64, 2*3*4)
	for i := range flat {
		flat[i] = float64(i)
	}
	if got := fmt.Sprint(fold(flat, 2, 3, 4)); got != "[[[0 1 2 3] [4 5 6 7] [8 9 10 11]] [[12 13 14 15] [16 17 18 19] [20 21 22 23]]]" {
		t.Errorf("%s", got)
	}
	steps := func(n int) [][]float64 { return make([][]float64, n) }
	if s := (&viewer.Stack{Updates: []float64{0, 0}, Weights: steps(2)}); crop(s) != 0 || len(s.Weights) != 0 {
		t.Errorf("of steps that nothing ran %+v is left", s)
	}
	s := &viewer.Stack{Updates: []float64{1, 2, 0}, Weights: steps(3), Changes: steps(1), Attention: make([][][][]float64, 3), CrossAttention: make([][][][]float64, 2)}
	if got := crop(s); got != 2 || len(s.Weights) != 2 || len(s.Changes) != 1 || len(s.Attention) != 2 || len(s.CrossAttention) != 2 {
		t.Errorf("%d steps are left: %+v", got, s)
	}
}

// The first wrong token of answers of many lengths is in the tenth that contains it, and the diagnosis is shown.
// Caught when planted: elevenths; the weakest token left out; a line of wrong answers where there are none.
func TestDiagnosisLines(t *testing.T) {
	for length := 1; length <= 40; length++ {
		for first := range length {
			right := make([]vocab.ID, length)
			for i := range right {
				right[i] = 5
			}
			answer := slices.Clone(right)
			answer[first] = 6
			d := &Diagnosis{}
			d.add(answer, right)
			if tenth := int(math.Floor(float64(first) / float64(length) * 10 * (1 + 1e-12))); d.FirstWrong[tenth] != 1 {
				t.Errorf("token %d of %d is counted in %v", first+1, length, d.FirstWrong)
			}
		}
	}
	heads := []Attention{{Right: "x", Step: 2, Head: 3, Mean: 0.5, Least: 0.25, Place: 4}, {Right: "y", Step: 1, Head: 1, Mean: 1, Least: 1}}
	shown := []string{"attention on x, over 3 right answers: mean 0.5000 by head 3 in step 2, least 0.2500 at token 4", "attention on y, over 3 right answers: mean 1.0000 by head 1 in step 1"}
	counts := "0 answers are wrong: 0 end too early, 0 too late or not at all, 0 have the right length"
	for _, c := range []struct {
		d    Diagnosis
		want []string
	}{
		{Diagnosis{}, []string{"no answer is wrong"}}, {Diagnosis{Attention: heads, OverTraced: 3}, append([]string{counts}, shown...)},
		{Diagnosis{Wrong: 1, Late: 1, FirstWrong: [10]int{9: 1}}, []string{"1 answers are wrong: 0 end too early, 1 too late or not at all, 0 have the right length", "first wrong token, by tenths of the right answer: [0 0 0 0 0 0 0 0 0 1]"}},
	} {
		if got := c.d.Lines(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	h := &headTally{Attention: Attention{Least: 1}}
	for place, weight := range []float64{0.5, 0.25, 0.25} {
		h.add(weight, place)
	}
	if h.Least != 0.25 || h.Place != 2 || h.sum != 1 || h.count != 3 {
		t.Errorf("%+v", h)
	}
}

// refused compares an error with what it should say, "" for none.
func refused(t *testing.T, what any, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%+v: %v, want %q", what, err, want)
	}
}

// Options at their bounds are valid, those beyond are not.
// Caught when planted: other bounds; a network asked of a single rank; the smallest value of each refused.
func TestBoundsOfOptions(t *testing.T) {
	for _, c := range []struct {
		o    EstimateOptions
		want string
	}{
		{EstimateOptions{}, ""}, {EstimateOptions{Ranks: 1}, ""}, {EstimateOptions{Ranks: 2, Network: 0.5}, ""}, {EstimateOptions{Ranks: 1 << 20, Network: 1}, ""},
		{EstimateOptions{Ranks: -1}, "ranks is -1"}, {EstimateOptions{Ranks: 1<<20 + 1, Network: 1}, "ranks is 1048577: it must be from 1 to 1048576"}, {EstimateOptions{Ranks: 3, Network: 1}, "ranks is 3, which does not divide training.accumulate, 1048576"},
		{EstimateOptions{Ranks: 2}, "network is 0"}, {EstimateOptions{Ranks: 2, Network: math.Inf(1)}, "network is +Inf"}, {EstimateOptions{Ranks: 2, Network: math.NaN()}, "network is NaN"},
		{EstimateOptions{Ranks: 2, Network: -1}, "network is -1"}, {EstimateOptions{Ranks: 1, Network: -1}, ""},
		{EstimateOptions{FLOPS: 1e-3}, ""}, {EstimateOptions{FLOPS: 9e-4}, "flops is 0.0009: it must be positive and finite, from 0.001 to 1e+30"}, {EstimateOptions{FLOPS: 1e30}, ""}, {EstimateOptions{FLOPS: 2e30}, "flops is 2e+30"},
		{EstimateOptions{Ranks: 2, Network: 1e-300}, "network is 1e-300"}, {EstimateOptions{FLOPS: 0.5}, ""}, {EstimateOptions{FLOPS: -0.5}, "flops is -0.5"}, {EstimateOptions{FLOPS: math.Inf(1)}, "flops is +Inf"}, {EstimateOptions{FLOPS: math.NaN()}, "flops is NaN"},
		{EstimateOptions{Assumed: Assumed{Vocabulary: 4, Length: 2}}, ""}, {EstimateOptions{Assumed: Assumed{Vocabulary: 1 << 24, Length: 1 << 20}}, ""},
		{EstimateOptions{Assumed: Assumed{Vocabulary: 3}}, "vocabulary is 3: it must be from 4 to 16777216"}, {EstimateOptions{Assumed: Assumed{Vocabulary: 1<<24 + 1}}, "vocabulary is 16777217"},
		{EstimateOptions{Assumed: Assumed{Length: 1}}, "length is 1: it must be from 2 to 1048576"}, {EstimateOptions{Assumed: Assumed{Length: 1<<20 + 1}}, "length is 1048577"},
		{EstimateOptions{Assumed: Assumed{Vocabulary: -1}}, "vocabulary is -1"}, {EstimateOptions{Assumed: Assumed{Length: -1}}, "length is -1"},
	} {
		refused(t, c.o, c.o.validate(1<<20), c.want)
	}
	for _, c := range []struct {
		o    DecodeOptions
		want string
	}{
		{DecodeOptions{}, ""}, {DecodeOptions{MaxLength: 1, MaxSource: 1, Memory: 1}, ""}, {DecodeOptions{MaxLength: 1_000_000, MaxSource: 1_000_000}, ""},
		{DecodeOptions{MaxLength: 1_000_001}, "MaxLength is 1000001: give 1 to 1000000"}, {DecodeOptions{MaxSource: 1_000_001}, "MaxSource is 1000001: give 1 to 1000000, or 0 for 10000"},
		{DecodeOptions{MaxLength: -1}, "MaxLength is -1"}, {DecodeOptions{MaxSource: -1}, "MaxSource is -1"}, {DecodeOptions{Memory: -1}, "Memory is -1"},
		{DecodeOptions{Method: decoding.Method{Beam: decoding.Beam{Width: -1}}}, "beam width is -1"},
	} {
		refused(t, c.o, c.o.Validate(), c.want)
	}
	for n, want := range map[int][2]bool{2: {true, true}, 3: {true, false}, 10_000: {true, false}, 10_001: {false, false}} {
		for i, o := range []DecodeOptions{{}, {MaxSource: 2}} {
			if err := o.Check(task.Input{Labels: make([]string, n)}); (err == nil) != want[i] {
				t.Errorf("%d tokens with MaxSource %d: %v", n, o.MaxSource, err)
			}
		}
	}
}

// The time of exchanges and of updates by hand: four ranks and eight batches make two rounds and the totals, of three quarters each.
// Caught when planted: a round too few; bytes for bits; ranks that do not share the work.
func TestExchange(t *testing.T) {
	e := Estimate{Ranks: 4, Batches: 8, ModelBytes: 1000, Operations: 6e9, Updates: 10}
	e.exchange(1e3)
	if want := 3 * 0.75 * 8000 / 1e3; math.Abs(e.ExchangeSeconds-want) > 1e-9 {
		t.Errorf("%v s, want %v", e.ExchangeSeconds, want)
	}
	if e.ExchangeBytes != 2250 {
		t.Errorf("%d bytes, want twice the gradients and a quarter", e.ExchangeBytes)
	}
	if s := e.at(1e9, "m"); math.Abs(s.Seconds-10*(1.5+18)) > 1e-9 || math.Abs(s.UpdatesPerSecond-1/19.5) > 1e-12 || s.Machine != "m" || s.OperationsPerSecond != 1e9 {
		t.Errorf("%+v", s)
	}
	two := Estimate{Ranks: 2, Batches: 2, ModelBytes: 1000}
	if two.exchange(1e3); math.Abs(two.ExchangeSeconds-2*0.5*8000/1e3) > 1e-9 {
		t.Errorf("two ranks exchange for %v s", two.ExchangeSeconds)
	}
	alone := Estimate{Ranks: 1, Batches: 8, ModelBytes: 1000}
	if alone.exchange(0); alone.ExchangeSeconds != 0 || alone.ExchangeBytes != 0 {
		t.Errorf("a single rank exchanges for %v s, with %d bytes", alone.ExchangeSeconds, alone.ExchangeBytes)
	}
	of := func(rows, source, target int) batch.Batch {
		return batch.Batch{Rows: rows, SourceLength: source, TargetLength: target}
	}
	s := sampled{batches: []batch.Batch{of(2, 9, 1), of(1, 1, 1), of(2, 1, 9), of(3, 5, 5), of(1, 3, 4)}}
	if typical, largest := s.typical(); typical.TargetLength != 1 || typical.SourceLength != 9 || largest.Rows != 3 {
		t.Errorf("of 20, 2, 20, 30 and 7 positions %+v is typical, %+v the largest", typical, largest)
	}
}

// Errors of lines: all of them in the list, the first in the text, with the number of the others.
func TestLineErrors(t *testing.T) {
	bad := errors.New("bad")
	answers := []Answer{{}, {Err: bad}, {Text: "x"}, {Err: fs.ErrClosed}, {Err: bad}}
	for n, want := range map[int]string{1: "", 2: "line 2: bad", 4: "line 2: bad (and 1 more lines without an answer)", 5: "line 2: bad (and 2 more lines without an answer)"} {
		err := lineErrors(answers[:n])
		refused(t, n, err, want)
		if err != nil && err.Error() != want || errors.Is(err, fs.ErrClosed) != (n >= 4) || (err != nil) != errors.Is(err, bad) {
			t.Errorf("%d lines: %v, want %q", n, err, want)
		}
	}
}

// Where the data of a moved run are looked for: the longest part of their path first, in the run directory and the two above it.
// Caught when planted: folders above the path; an order by folders.
func TestBeside(t *testing.T) {
	want := []string{"r/a/b.tsv", "a/b.tsv", "../a/b.tsv", "r/b.tsv", "b.tsv", "../b.tsv"}
	for _, path := range []string{"/a/b.tsv", "../../a/b.tsv", "a/b.tsv", "a/c/../b.tsv", "./a//b.tsv"} {
		got := candidatePaths("r", filepath.FromSlash(path))
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Figures of a validation: decoded answers first, then what every validation has, then the others by name.
func TestImportance(t *testing.T) {
	v := validation(runlog.Row{
		"step": 4., "tokens": 9., "decoded_chrf": 2., "decoder_ponder": 3., "cross_entropy": 0., "split": "validation", "sequence_accuracy": 0.5, "loss": 7., "decoded_bleu": 1., "token_accuracy": 0.25, "encoder_ponder": 1.5,
	})
	var names []string
	for _, f := range v.Metrics {
		names = append(names, f.Name)
	}
	if want := []string{"decoded_bleu", "decoded_chrf", "cross_entropy", "token_accuracy", "sequence_accuracy", "encoder_ponder", "decoder_ponder", "loss", "tokens"}; !slices.Equal(names, want) || v.Step != 4 {
		t.Errorf("step %d: %q, want %q", v.Step, names, want)
	}
	for name, want := range map[string]bool{"cross_entropy": true, "loss": true, "nothing": false} {
		if n, ok := v.Figure(name); ok != want || name == "loss" && n != 7 || name != "loss" && n != 0 {
			t.Errorf("%s: %v, %v", name, n, ok)
		}
	}
	if _, ok := (*Validation)(nil).Figure("loss"); ok {
		t.Error("no validation has a figure")
	}
}

// A changed learning rate is reported from a tenth on, for steps that are still to come, and how a stretched cosine can end.
// Caught when planted: the rate of another step; a report before the first or after the last update, or of a rate that stays 0.
func TestRateChange(t *testing.T) {
	of := func(s schedule.Schedule, steps int64) (r experiment.Run) {
		r = experiment.Defaults()
		r.Training.Schedule, r.Training.Steps = experiment.Schedule{Value: s}, steps
		return r
	}
	constant := func(rate float64) experiment.Run { return of(schedule.Constant{LearningRate: rate}, 10) }
	for _, c := range []struct {
		after float64
		step  int64
		lines int
	}{{1, 5, 0}, {0.91, 5, 0}, {0.9, 5, 1}, {0.89, 5, 1}, {1.09, 5, 0}, {1.1, 5, 1}, {1.11, 5, 1}, {2, 0, 0}, {2, 1, 1}, {2, 9, 1}, {2, 10, 0}, {2, 11, 0}} {
		if got := rateChange(constant(1), constant(c.after), c.step); len(got) != c.lines || len(got) > 0 && !strings.HasPrefix(got[0], fmt.Sprintf("the learning rate was 1 in update %d and is %.2g in update %d", c.step, c.after, c.step+1)) {
			t.Errorf("from 1 to %v after step %d: %q", c.after, c.step, got)
		}
	}
	cosine := schedule.Cosine{Peak: 1e-2, Floor: 1e-4, Warmup: 2}
	got := rateChange(of(cosine, 100), of(cosine, 200), 100)
	if len(got) != 2 || got[1] != "the cosine is stretched to update 200: set training.schedule.end=100 to stay at the floor, 0.0001, or training.schedule.start=100 to warm up again" {
		t.Errorf("a stretched cosine: %q", got)
	}
	stays := cosine
	stays.End = 100
	if got := rateChange(of(cosine, 100), of(stays, 200), 100); got != nil {
		t.Errorf("a cosine that stays at its floor: %q", got)
	}
	stays.Floor = 0
	if got := rateChange(of(stays, 100), of(stays, 200), 100); got != nil {
		t.Errorf("a cosine that stays at 0: %q", got)
	}
	for name, change := range map[string]func(*schedule.Cosine){"with an end": func(c *schedule.Cosine) { c.End = 150 }, "with a start": func(c *schedule.Cosine) { c.Start = 100 }} {
		other := cosine
		change(&other)
		if got := rateChange(of(cosine, 100), of(other, 200), 100); len(got) != 1 {
			t.Errorf("a cosine %s: %q", name, got)
		}
	}
	higher := cosine
	higher.Peak = 2e-2
	for name, c := range map[string][2]experiment.Run{
		"from another schedule": {of(schedule.Constant{LearningRate: 1e-3}, 100), of(cosine, 200)}, "with a higher peak": {of(cosine, 100), of(higher, 200)},
	} {
		if got := rateChange(c[0], c[1], 100); len(got) != 1 {
			t.Errorf("a cosine %s: %q", name, got)
		}
	}
	if got := rateChange(of(schedule.Cosine{Peak: 1e-2, Warmup: 10}, 100), of(schedule.Cosine{Peak: 1e-2, Warmup: 10}, 200), 5); len(got) != 1 {
		t.Errorf("a cosine that warms up: %q", got)
	}
	if got := rateChange(of(cosine, 200), of(cosine, 150), 100); len(got) != 1 {
		t.Errorf("a cosine that is shortened: %q", got)
	}
}

// Which parts of the data have changed, in a fixed order; checkpoints without digests tell nothing.
// Caught when planted: a part left out; a part that is new taken for unchanged.
func TestChangedData(t *testing.T) {
	sealed := &runlog.Checkpoint{Step: 7, Meta: map[string]string{training.DataKey("training"): "a", training.DataKey("test"): "c"}}
	for _, c := range []struct {
		checkpoint *runlog.Checkpoint
		now        map[string]string
		want       string
	}{
		{sealed, map[string]string{"training": "a", "test": "c"}, ""}, {sealed, nil, ""}, {&runlog.Checkpoint{}, map[string]string{"training": "b"}, ""},
		{sealed, map[string]string{"training": "a", "test": "x"}, "the test data have changed since the checkpoint of update 7"},
		{sealed, map[string]string{"training": "x", "validation": "b"}, "the training, validation, test data have changed since the checkpoint of update 7"},
	} {
		if got := changedData(c.checkpoint, c.now); got != c.want {
			t.Errorf("%v: %q, want %q", c.now, got, c.want)
		}
	}
}

// Tokens of a text that the vocabulary lacks are counted; probabilities are scaled to sum to 1, and sorted.
// Caught when planted: known tokens counted.
func TestSpelled(t *testing.T) {
	v, err := vocab.New([]string{"a", "b"}, vocab.WithUnknown())
	if err != nil {
		t.Fatal(err)
	}
	unknown, _ := v.Unknown()
	a, _ := v.ID("a")
	m := &Model{Vocabularies: task.Vocabularies{Source: v, Target: v}}
	got := m.spelled(task.Scored{}, task.Example{Target: []vocab.ID{a, unknown, a, a, unknown, vocab.End}})
	if got.UnknownCount != 2 || len(got.Tokens) != 6 || got.Tokens[0] != "a" {
		t.Errorf("%d unknown of %q", got.UnknownCount, got.Tokens)
	}
	plain, err := vocab.New([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	m.Vocabularies.Target = plain
	if got := m.spelled(task.Scored{}, task.Example{Target: []vocab.ID{vocab.Padding, 2, vocab.End}}); got.UnknownCount != 0 {
		t.Errorf("%d unknown where there are none", got.UnknownCount)
	}
	if got := sorted(plain, normalized([]float64{0.1, 0.3})); got[0].Name != "b" || math.Abs(got[0].Probability-0.75) > 1e-12 || got[1].Name != "a" {
		t.Errorf("%+v", got)
	}
	if got := normalized([]float64{0, 0}); got[0] != 0 || got[1] != 0 {
		t.Errorf("nothing is shared as %v", got)
	}
	if got := m.spell(task.Input{Source: []vocab.ID{3, 2}, Labels: []string{"B!", "A!"}}, 2); got != "a" { // source and target differ
		t.Errorf("the class is %q", got)
	}
	if got := m.spell(task.Input{Source: []vocab.ID{2}, Labels: []string{"A!"}}, 3); got != "b" {
		t.Errorf("a class that is not in the source is %q", got)
	}
	m.Vocabularies.Source = plain
	if got := m.spell(task.Input{Source: []vocab.ID{3, 2}, Labels: []string{"B!", "A!"}}, 3); got != "B!" {
		t.Errorf("the first word is %q", got)
	}
	if got := m.spell(task.Input{Source: []vocab.ID{2}, Labels: []string{"A!"}}, 3); got != "b" {
		t.Errorf("a class that is not in the source is %q", got)
	}
	if got := m.spell(task.Input{Source: []vocab.ID{3, 2}, Labels: []string{"B!", "A!"}}, 2); got != "A!" {
		t.Errorf("the word is %q", got)
	}
	if answerstream.OneLine.Replace("a\r\nb") != "a  b" {
		t.Error("line breaks remain")
	}
}

// A tokenizer that is missing, damaged or replaced is named. Caught when planted: the message of a missing file for another error;
// an error that is not ErrDamaged.
func TestTokenizerOfARun(t *testing.T) {
	log, err := runlog.Create(filepath.Join(t.TempDir(), "run"), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	p, err := subword.Choice{TokenizerSize: 260}.Pieces(slices.Values([]string{"ab ab ab"}))
	if err != nil {
		t.Fatal(err)
	}
	v := task.Vocabularies{Tokenizer: vocab.Subwords, Subwords: p, TokenizerDigest: p.Digest(), Source: p.Vocabulary(), Target: p.Vocabulary()}
	if err := writeVocabularies(log, v); err != nil {
		t.Fatal(err)
	}
	back, err := readVocabularies(log)
	if err != nil || !back.Equal(v) || back.Subwords.Digest() != p.Digest() {
		t.Errorf("%+v, %v", back, err)
	}
	path := filepath.Join(log.Dir(), "tokenizer.json")
	other, err := subword.Choice{TokenizerSize: 259}.Pieces(slices.Values([]string{"ab ab ab"}))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func() error{
		"tokenizer.json is missing: restore it":                 func() error { return os.Remove(path) },
		"tokenizer.json: ":                                      func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"tokenizer.json has changed since training: restore it": func() error { return os.WriteFile(path, other.File(), 0o600) },
		"is a folder": func() error { return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)) },
	} {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, p.File(), 0o600), change()); err != nil {
			t.Fatal(err)
		}
		_, err := readVocabularies(log)
		refused(t, want, err, want)
		if !errors.Is(err, runlog.ErrDamaged) {
			t.Errorf("%v is not ErrDamaged", err)
		}
	}
}

// Close frees the graphs, and the model can be used afterwards; traces have a limit. Caught when planted: graphs that stay.
func TestCloseFreesTheDecoder(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1000: "", 1001: "1001 positions exceed the limit of a trace, 1000"} {
		_, err := m.readToTrace(strings.Repeat("1", n))
		refused(t, n, err, want)
	}
	for range 2 {
		if answers, err := m.Decode(t.Context(), []string{"12"}, DecodeOptions{}); err != nil || answers[0].Text != "12" || m.decoder == nil {
			t.Errorf("%v, %v", answers, err)
		}
		score := func() *evaluation.Kept {
			if _, err := m.Score(t.Context(), []Pair{{"12", "12"}}, 0); err != nil || m.kept == nil {
				t.Fatalf("graphs of scores are not kept: %v", err)
			}
			return m.kept
		}
		if first := score(); score() != first {
			t.Error("the second score makes new graphs")
		}
		m.Close()
		if m.decoder != nil || m.kept != nil {
			t.Error("graphs are left")
		}
	}
}

// The record of a session is saved after its first update, then at intervals and at the end, with the updates so far.
// Caught when planted: a record at every update, or none before the end.
func TestSessionIsSavedAtOnce(t *testing.T) {
	log, err := runlog.Create(filepath.Join(t.TempDir(), "run"), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if err := beginSession(log, enginetest.Backend(t), Callbacks{}).end(); err != nil {
		t.Fatal(err)
	}
	if saved, err := readSessions(log); err != nil || len(saved) != 0 {
		t.Errorf("of a session without updates %+v, %v", saved, err)
	}
	recent := beginSession(log, enginetest.Backend(t), Callbacks{})
	recent.saved = time.Now().Add(time.Hour)
	recent.counted(nil)(training.Progress{})
	if saved, err := readSessions(log); err != nil || len(saved) != 0 {
		t.Errorf("saved before the interval is over: %+v, %v", saved, err)
	}
	if err := recent.end(); err != nil {
		t.Fatal(err)
	}
	if saved, err := readSessions(log); err != nil || len(saved) != 1 || saved[0].Updates != 1 {
		t.Errorf("of a session with one update %+v, %v", saved, err)
	}
	if err := os.Remove(filepath.Join(log.Dir(), sessionsFile)); err != nil {
		t.Fatal(err)
	}
	s := beginSession(log, enginetest.Backend(t), Callbacks{})
	called := 0
	count := s.counted(func(training.Progress) { called++ })
	for n, want := range []int{1, 1, 1} {
		count(training.Progress{})
		if saved, err := readSessions(log); err != nil || len(saved) != 1 || saved[0].Updates != int64(want) || called != n+1 {
			t.Errorf("after update %d: %+v, %v", n+1, saved, err)
		}
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if saved, err := readSessions(log); err != nil || saved[0].Updates != 3 || saved[0].WallSeconds <= 0 {
		t.Errorf("at the end: %+v, %v", saved, err)
	}
}
