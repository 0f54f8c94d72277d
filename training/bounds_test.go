package training

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A tensor is finite if none of its numbers is infinite or NaN, wherever that stands; numbers of other types always are.
// Caught when planted: another bit of the exponent; numbers that are passed over.
func TestFinite(t *testing.T) {
	infinite := float32(math.Inf(1))
	for _, c := range []struct {
		values []float32
		want   bool
	}{
		{nil, true}, {[]float32{0, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}, true},
		{[]float32{infinite, 0, 0}, false}, {[]float32{0, -infinite, 0}, false}, {[]float32{0, 0, float32(math.NaN())}, false},
		{[]float32{0, math.Float32frombits(0x7f800001)}, false}, {[]float32{math.Float32frombits(0xffffffff), 0}, false},
	} {
		var data []byte
		for _, v := range c.values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		for dtype, want := range map[string]bool{"F32": c.want, "U32": true} {
			if got := Finite(safetensors.Tensor{DType: dtype, Data: data}); got != want {
				t.Errorf("%v as %s: finite is %v", c.values, dtype, got)
			}
		}
	}
}

// The checkpoint of update 0 is a checkpoint. Caught when planted: step 0 taken for none.
func TestDivergedErrorNamesTheCheckpoint(t *testing.T) {
	for saved, want := range map[int64]string{
		-1: "training stopped at update 9: p; there is no checkpoint: resume the run, which begins it again, with a lower learning rate, training.schedule.rate=0.000123",
		0:  "training stopped at update 9: p; the checkpoint of update 0 is kept: continue from it with a lower learning rate, training.schedule.rate=0.000123",
	} {
		if got := (&DivergedError{Step: 9, Problem: "p", Saved: saved, Field: "rate", Value: 0.00012345}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Losses and norms that stop training, and the largest that do not.
// Caught when planted: another bound; an infinite norm accepted.
func TestCheckFinite(t *testing.T) {
	log, err := runlog.Create(t.TempDir()+"/run", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	tr := &Trainer{Log: log, saved: 5, step: 8, group: parallel.Local(1)[0], Config: schedule.Config{Schedule: schedule.Constant{LearningRate: 0.5}}}
	for _, c := range []struct {
		nats, loss, norm float64
		want             string
	}{
		{1000, 1, math.MaxFloat64, ""}, {1000.5, 1, 1, "the cross entropy has exploded to 1e+03 nats per token"}, {1, math.NaN(), 1, "the loss is NaN"},
		{1, math.Inf(1), 1, "the loss is +Inf"}, {1, 1, math.NaN(), "the gradient's norm is NaN"}, {1, 1, math.Inf(1), "the gradient's norm is +Inf"},
	} {
		err := tr.checkFinite(objective.Tally{Nats: 2 * c.nats, Tokens: 2, Loss: c.loss, Batches: 1, Sequences: 1}, c.norm)
		var diverged *DivergedError
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &diverged) || diverged.Problem != c.want || diverged.Saved != 5 || diverged.Step != 8 || diverged.Value != 0.25) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Measures of decoded answers, in the metrics and in the message. Those that are not finite count as 0.
// Caught when planted: measures that are not shown; an infinite one kept; an accuracy of 0.9964 shown as 1.00.
func TestFigures(t *testing.T) {
	row := map[string]any{}
	got := addFigures(row, []score.Metric{score.Figure("BLEU", 12.346), score.Figure("Token F1", 0.9964)})
	if got != "; decoded answers: BLEU 12.35, Token F1 0.9964" || row["decoded_bleu"] != 12.346 || row["decoded_token_f1"] != 0.9964 || len(row) != 2 {
		t.Errorf("%q, %v", got, row)
	}
	tr := &Trainer{Decoded: func(context.Context, *model.Store) ([]score.Metric, error) {
		return []score.Metric{score.Figure("a", math.NaN()), score.Figure("b", 3), score.Figure("c", math.Inf(1))}, nil
	}}
	if list, err := tr.decoded(t.Context()); err != nil || list[0].Value != 0 || list[1].Value != 3 || list[2].Value != 0 || first(list) != 0 || first(list[1:]) != 3 || first(nil) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// When training stops: at the share of correct sequences itself, and after as many validations as asked for; and what is remembered of
// validations: the first of equals.
// Caught when planted: one validation more or fewer; a validation that is not perfect counted; later ones of equals.
func TestRecord(t *testing.T) {
	tally := func(nats, right float64) objective.Tally {
		return objective.Tally{Smoothed: nats, Nats: nats, Tokens: 1, Sequences: 4, CorrectSequences: right}
	}
	for _, c := range []struct {
		name string
		stop schedule.Stop
		seen []objective.Tally
		want string
	}{
		{"accuracy reached", schedule.Stop{Accuracy: 0.75}, []objective.Tally{tally(1, 3)}, "accuracy"}, {"not reached", schedule.Stop{Accuracy: 0.76}, []objective.Tally{tally(1, 3)}, ""},
		{"perfect once", schedule.Stop{Perfect: 1}, []objective.Tally{tally(1, 4)}, "perfect"}, {"perfect once of two", schedule.Stop{Perfect: 2}, []objective.Tally{tally(1, 3), tally(1, 4)}, ""},
		{"perfect twice, apart", schedule.Stop{Perfect: 2}, []objective.Tally{tally(1, 4), tally(1, 3), tally(1, 4)}, ""},
		{"perfect twice", schedule.Stop{Perfect: 2}, []objective.Tally{tally(1, 3), tally(1, 4), tally(1, 4)}, "perfect"},
		{"one worse", schedule.Stop{Patience: 1}, []objective.Tally{tally(1, 0), tally(1, 0)}, "patience"}, {"one, two wanted", schedule.Stop{Patience: 2}, []objective.Tally{tally(1, 0), tally(2, 0)}, ""},
		{"always better", schedule.Stop{Patience: 1}, []objective.Tally{tally(3, 0), tally(2, 0), tally(1, 0)}, ""}, {"nothing asked", schedule.Stop{}, []objective.Tally{tally(1, 4), tally(1, 4)}, ""},
	} {
		tr := &Trainer{Config: schedule.Config{Stop: c.stop}}
		for _, seen := range c.seen {
			tr.step++
			tr.record(seen, nil)
		}
		if tr.state.Stopped != c.want {
			t.Errorf("%s: stopped by %q, want %q", c.name, tr.state.Stopped, c.want)
		}
	}
	tr := &Trainer{}
	for _, seen := range []objective.Tally{tally(3, 1), tally(2, 2), tally(2, 2), tally(5, 1)} {
		tr.step += 10
		best := tr.record(seen, []score.Metric{score.Figure("m", float64(tr.step))})
		if best != (tr.step <= 20) {
			t.Errorf("step %d is the best: %v", tr.step, best)
		}
	}
	if s := tr.state; s.BestStep != 20 || s.Waited != 2 || s.BestMeasure != 20 || s.MaxCorrect != (extreme{20, 2}) || s.LowestSmoothed != (extreme{20, 2}) || s.BestNats != 2 || s.BestCorrect != 2 || s.Validation.Nats != 5 {
		t.Errorf("%+v", s)
	}
}

// How the best checkpoint was selected. Caught when planted: validations that were the best in both respects named as two.
func TestSelection(t *testing.T) {
	base := state{BestStep: 10, BestCorrect: 2, Validation: objective.Tally{Sequences: 8}}
	with := func(change func(*state)) state {
		s := base
		change(&s)
		return s
	}
	for _, c := range []struct {
		config schedule.Config
		state  state
		want   string
	}{
		{schedule.Config{}, state{}, ""}, {schedule.Config{}, state{BestStep: 10}, ""}, {schedule.Config{}, base, "its cross entropy is the lowest"},
		{schedule.Config{}, with(func(s *state) { s.MaxCorrect = extreme{10, 2} }), "its cross entropy is the lowest"},
		{schedule.Config{}, with(func(s *state) { s.MaxCorrect = extreme{1, 3} }),
			"its cross entropy is the lowest; update 1 has more correct validation sequences, 0.3750 against 0.2500 (training.best_by_accuracy=true keeps that one)"},
		{schedule.Config{BestByMeasure: true}, with(func(s *state) { s.MaxCorrect = extreme{20, 3} }), "its decoded answers are the best"},
		{schedule.Config{Objective: objective.Objective{LabelSmoothing: 0.1}}, base, "its cross entropy against the smoothed targets is the lowest"},
		{schedule.Config{Objective: objective.Objective{LabelSmoothing: 0.1}, BestByAccuracy: true}, with(func(s *state) { s.LowestSmoothed = extreme{1, 1} }),
			"it has the largest share of correct validation sequences, 0.2500, and among equals the lowest cross entropy against the smoothed targets; the cross entropy against the smoothed targets was lowest at update 1"},
		{schedule.Config{BestByAccuracy: true}, base, "it has the largest share of correct validation sequences, 0.2500, and among equals the lowest cross entropy"},
		{schedule.Config{BestByAccuracy: true}, with(func(s *state) { s.LowestSmoothed = extreme{10, 1} }), "it has the largest share of correct validation sequences, 0.2500, and among equals the lowest cross entropy"},
		{schedule.Config{BestByAccuracy: true}, with(func(s *state) { s.LowestSmoothed = extreme{1, 1} }), "it has the largest share of correct validation sequences, 0.2500, and among equals the lowest cross entropy; the cross entropy was lowest at update 1"},
	} {
		want := c.want
		if want != "" {
			want = "the checkpoint of update 10 is kept: " + want
		}
		if got := (&Trainer{Config: c.config, state: c.state}).selection(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Ponder times at the bounds of a problem, and what is recommended against too many steps.
func TestBoundsOfPonderProblems(t *testing.T) {
	for _, c := range []struct {
		steps, variance, last, weight float64
		want                          string
	}{
		{1.09, 1, 1, 0.01, "the encoder runs 1.09 steps"}, {1.11, 1, 1, 0.01, ""}, {2, 0.0099, 0.5, 0.01, "every position of the encoder takes 2 steps: "}, {2, 0.0101, 0.5, 0.01, ""},
		{2, 0, 0.0199, 0.01, "every position of the encoder takes 2 steps, the last with a weight of 0.02"}, {2, 0, 0.0201, 0.01, "every position of the encoder takes 2 steps: "},
		{3.89, 1, 1, 0.01, ""}, {3, 1, 1, 0.01, ""},
		{3.91, 1, 1, 0.01, "the encoder runs 3.91 of 4 steps per position: it never halts before the limit: raise the ponder cost (training.ponder.weight=0.1) " +
			"or the limit (model.halting.max_steps=8), or use a fixed depth, which takes less time (model.halting.fixed.steps=4)"},
		{4, 0, 1, 0, "the encoder runs 4.00 of 4 steps per position: it never halts before the limit: raise the ponder cost (training.ponder.weight=0.001)"},
	} {
		m := universal.Encoder{Config: universal.Config{Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 4}}}}
		tr := &Trainer{Model: m, Config: schedule.Config{Ponder: objective.PonderSchedule{Weight: c.weight}}}
		got := tr.ponderProblem(objective.Tally{EncoderUpdates: 100 * c.steps, EncoderPositions: 100}, depths(100*(c.steps*c.steps+c.variance), 100*c.last, 0, 0))
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v steps, variance %v, weight %v: %q, want %q", c.steps, c.variance, c.last, got, c.want)
		}
	}
	exact := &Trainer{Model: universal.Encoder{Config: universal.Config{Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 4}}}}}
	for updates, want := range map[float64]string{11: "", 39: "", 20: "every position of the encoder takes 2 steps: "} { // means of 1.1 and 3.9 are within the bounds, as is a weight of 0.02
		squares := map[bool]float64{true: 40, false: updates*updates/10 + 5}[updates == 20]
		if got := exact.ponderProblem(objective.Tally{EncoderUpdates: updates, EncoderPositions: 10}, depths(squares, 0.2, 0, 0)); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("a mean of %v steps: %q, want %q", updates/10, got, want)
		}
	}
	shallowest := &Trainer{Model: universal.Encoder{Config: universal.Config{Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 2}}}}}
	if got := shallowest.ponderProblem(objective.Tally{EncoderUpdates: 10, EncoderPositions: 10}, depths(10, 10, 0, 0)); !strings.Contains(got, "1.00 steps") || !strings.HasSuffix(got, "fixed.steps=1)") {
		t.Errorf("two steps at most: %q", got)
	}
}

// A group of two ranks whose digests matter.
func rankOfTwo() *Trainer { return &Trainer{group: parallel.Local(2)[0], step: 6} }

// The digest of batches is the CRC-32C of their ids as little-endian numbers of 32 bits, sources first; of parameters and of a single
// process it is not computed.
// Caught when planted: bytes of an id left out; targets left out.
func TestDigest(t *testing.T) {
	batches := []batch.Batch{{Source: []vocab.ID{1, 0x01020304}, Target: []vocab.ID{0x7f00ff00, 9}}, {Target: []vocab.ID{-2}}}
	var data bytes.Buffer
	for _, b := range batches {
		for _, ids := range [][]vocab.ID{b.Source, b.Target} {
			if err := binary.Write(&data, binary.LittleEndian, ids); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := rankOfTwo().digest(batches), crc32.Checksum(data.Bytes(), crc32.MakeTable(crc32.Castagnoli)); got != want {
		t.Errorf("%08x, want %08x", got, want)
	}
}

// Ranks that differ are named, data before parameters. Caught when planted: the last rank left out; ranks that are equal named.
func TestDifferenceNamesTheRanks(t *testing.T) {
	same := report{data: 1, parameters: 2}
	for _, c := range []struct {
		reports []report
		want    string
	}{
		{[]report{same, same, same}, ""}, {[]report{same}, ""},
		{[]report{same, {data: 1, parameters: 3}, {data: 1, parameters: 4}}, "update 6: the parameters of rank 1, 2 differ from those of rank 0: all need the same build"},
		{[]report{same, {data: 1, parameters: 3}, {data: 2, parameters: 2}}, "update 6: the training data of rank 2 differ from those of rank 0: all hosts need the same files"},
	} {
		err := rankOfTwo().difference(c.reports)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for n := range 7 {
		if _, err := reportOf([]float64{0, 1, 2, 3, 4, 5, 6}[:n]); (err == nil) != (n == 5) {
			t.Errorf("a report of %d numbers: %v", n, err)
		}
	}
}

// What is a parameter of the model and what is not, by its path.
func TestTrained(t *testing.T) {
	for path, want := range map[string]bool{
		"/encoder/step": true, "/readout/weight": true, "/averaged/readout/weight": false, "/accumulated/readout/weight": false, "/muon/encoder/weight": false,
		"/AdamOptimizer/readout/weight_1st_moment": false, "/optimizers/learning_rate": false, "/global_step": false, "/averagedness/x": true,
	} {
		if Trained(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// Checkpoints that do not fit say which parameter and why; the state of a changed configuration begins to wait anew; and old checkpoints
// have no smoothed cross entropy.
func TestLoadAndRestoreRefuse(t *testing.T) {
	store := model.NewStore()
	if _, err := store.CreateVariable("/a", tensors.FromShape(shapes.Make(dtypes.Float32, 2))); err != nil {
		t.Fatal(err)
	}
	for want, stored := range map[string]safetensors.Tensor{
		"parameter a has shape": {Name: "a", DType: "F32", Shape: []int{1}, Data: make([]byte, 4)}, "parameter b: unknown type F16": {Name: "b", DType: "F16", Shape: []int{1}, Data: make([]byte, 2)},
	} {
		if err := Load(store, []safetensors.Tensor{stored}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	tr := &Trainer{Store: store}
	for want, kept := range map[string]string{"is null": "null", "cannot be read": "{", "capacity_plan: shape 1 is null": `{"capacity_plan":{"shapes":[null]}}`} {
		err := tr.restore(&runlog.Checkpoint{Step: 3, Meta: map[string]string{StateKey: kept}})
		if err == nil || !strings.HasPrefix(err.Error(), `checkpoint of update 3: its metadata "training"`) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", kept, err, want)
		}
	}
	if _, err := SavedIn(&runlog.Checkpoint{Step: 3, Meta: map[string]string{StateKey: "{"}}); err == nil || !strings.HasPrefix(err.Error(), "checkpoint of update 3") {
		t.Errorf("a state that cannot be read: %v", err)
	}
	saved, err := SavedIn(&runlog.Checkpoint{Meta: map[string]string{StateKey: `{"seconds":2.5,"stopped":"patience"}`}, Tensors: []safetensors.Tensor{
		{Name: "a", Shape: []int{3, 5}}, {Name: "b", Shape: []int{2}}, {Name: "c"}, {Name: "AdamOptimizer.a", Shape: []int{7}},
	}})
	if err != nil || saved != (Saved{Seconds: 2.5, Stopped: "patience", Parameters: 18}) {
		t.Errorf("%+v, %v", saved, err)
	}
}

// A run that begins from parameters has all seals, the longest target only if it is known, and an empty state.
func TestBegin(t *testing.T) {
	for longest, want := range map[int]string{0: "", 1: "1", 17: "17"} {
		c, err := Begin([]safetensors.Tensor{{Name: "a"}}, Seals{Fingerprint: "f", Data: map[string]string{"test": "d"}, LongestSource: 2 * longest, LongestTarget: longest})
		if err != nil || c.Step != 0 || len(c.Tensors) != 1 || c.Meta[FingerprintKey] != "f" || c.Meta["data_test"] != "d" || c.Meta[LongestTargetKey] != want {
			t.Errorf("%+v, %v", c, err)
		}
		if _, ok := c.Meta[LongestTargetKey]; ok != (longest > 0) {
			t.Errorf("longest target %d: %v", longest, c.Meta)
		}
		if source := c.Meta[LongestSourceKey]; source != map[int]string{0: "", 1: "2", 17: "34"}[longest] {
			t.Errorf("longest source of %d is %q", 2*longest, source)
		}
	}
}

// fixedDraws draws as many positions as a sequence is long, 10 apart.
type fixedDraws struct{}

func (fixedDraws) Limit() int      { return 1000 }
func (fixedDraws) Validate() error { return nil }
func (fixedDraws) Draw(_ *rand.Rand, length int) (list []int32) {
	for i := range length {
		list = append(list, int32(10*(i+1)))
	}
	return list
}

// Positions of a batch: those of each row, and 1 at padding. Caught when planted: another position at padding; rows of their own length.
func TestDrawPositionsPads(t *testing.T) {
	b := batch.Batch{Rows: 2, SourceLength: 2, TargetLength: 3, Source: []vocab.ID{4, 0, 4, 4}, Target: []vocab.ID{4, 0, 0, 4, 4, 4}}
	tr := &Trainer{Positions: universal.Draws{Positions: fixedDraws{}}}
	if got := fmt.Sprint(tr.drawPositions(b, 1, "p", 0)); got != "[10 1 1 10 20 30] <nil>" {
		t.Errorf("positions %s", got)
	}
	tr.Positions.Positions = universal.FromOne{}
	if got, err := tr.drawPositions(b, 1, "p", 0); got != nil || err != nil {
		t.Errorf("positions %v, %v where none are drawn", got, err)
	}
}

// What is due after an update, and the share of the old mean.
func TestDueAndShares(t *testing.T) {
	tr := &Trainer{Config: schedule.Config{Steps: 7, Average: 0.5}}
	for step, want := range map[int64]bool{1: false, 2: false, 3: true, 6: true, 7: true} {
		if tr.step = step; tr.due(3) != want {
			t.Errorf("step %d of 7 is due: %v", step, !want)
		}
	}
	for step, want := range map[int64]float32{1: 0, 2: 1. / 11, 3: 2. / 12, 11: 0.5, 12: 0.5, 1000: 0.5} {
		if got := averageShare(tr.Config, step); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	row := metrics("s", 4, objective.Tally{Loss: 6, Batches: 2, Nats: 5, Tokens: 10, CorrectTokens: 3, Sequences: 4, CorrectSequences: 1, EncoderUpdates: 9, EncoderPositions: 3, DecoderUpdates: 8, DecoderPositions: 2})
	for key, want := range map[string]any{
		"step": int64(4), "split": "s", "loss": 3., "cross_entropy": 0.5, "token_accuracy": 0.3, "sequence_accuracy": 0.25, "tokens": 10., "sequences": 4., "encoder_ponder": 3., "decoder_ponder": 4.,
	} {
		if row[key] != want {
			t.Errorf("%s is %v, want %v", key, row[key], want)
		}
	}
}

// There is nothing to say about the selection before the first validation, or if that had no sequences.
// Caught when planted: a first update whose validation counts as none.
func TestNoSelection(t *testing.T) {
	for _, c := range []struct {
		step      int64
		sequences float64
		want      bool
	}{{0, 5, false}, {1, 0, false}, {1, 1, true}, {2, 5, true}} {
		tr := &Trainer{state: state{BestStep: c.step, Validation: objective.Tally{Sequences: c.sequences}}}
		if got := tr.selection(); (got != "") != c.want {
			t.Errorf("best step %d of %v sequences: %q", c.step, c.sequences, got)
		}
	}
}
