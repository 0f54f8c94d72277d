package objective_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// A measure is objective.CrossEntropy as numbers, mean last.
type measure [7]float64

func measured(t *testing.T, logits [][][]float64, target [][]int32, smoothing float64) measure {
	t.Helper()
	return measuredWith(t, logits, target, smoothing, 0)
}

func measuredWith(t *testing.T, logits [][][]float64, target [][]int32, smoothing float64, unknown int32) (m measure) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, logits, target *Node) []*Node {
		m := objective.Measure(logits, target, smoothing, unknown)
		return []*Node{m.Nats, m.Smoothed, m.Tokens, m.CorrectTokens, m.Sequences, m.CorrectSequences, m.Mean()}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(logits, target)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m {
		m[i] = tensors.ToScalar[float64](out[i])
	}
	return m
}

// plain is the same in loops.
func plain(logits [][][]float64, target [][]int32, smoothing float64) (m measure) {
	for b := range target {
		wrong, tokens := 0, 0
		for i, truth := range target[b] {
			if truth == 0 {
				continue
			}
			tokens++
			sum := 0.0
			best := 0
			for v, l := range logits[b][i] {
				sum += math.Exp(l)
				if l > logits[b][i][best] {
					best = v
				}
			}
			if best != int(truth) {
				wrong++
			}
			for v, l := range logits[b][i] {
				logP := l - math.Log(sum)
				q := smoothing / float64(len(logits[b][i])-1)
				if v == int(truth) {
					q = 1 - smoothing
					m[0] -= logP
				}
				if q > 0 {
					m[1] += q * (math.Log(q) - logP) // Kullback and Leibler's divergence
				}
			}
		}
		m[2] += float64(tokens)
		m[3] += float64(tokens - wrong)
		if tokens > 0 {
			m[4]++
			if wrong == 0 {
				m[5]++
			}
		}
	}
	m[6] = m[1] / max(m[2], 1)
	return m
}

// Sizes are odd, one row is nothing but padding, one all right, one all wrong but for its padding.
// Caught when planted: padding counted as a token or as right, smoothing spread over V instead of V-1 tokens, an entropy left out,
// a mean over all positions.
func TestMeasureAgreesWithPlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	target := [][]int32{{3, 1, 0, 0, 0}, {2, 4, 6, 5, 1}, {0, 0, 0, 0, 0}, {4, 4, 1, 0, 0}}
	for _, smoothing := range []float64{0, 0.1, 0.6} {
		logits := make([][][]float64, len(target))
		for b := range logits {
			for i := range target[b] {
				row := make([]float64, 7)
				for v := range row {
					row[v] = 3 * rng.NormFloat64()
				}
				if b == 0 || b == 1 && i%2 == 0 {
					row[target[b][i]] += 20
				}
				logits[b] = append(logits[b], row)
			}
		}
		got, want := measured(t, logits, target, smoothing), plain(logits, target, smoothing)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12*max(1, math.Abs(want[i])) {
				t.Errorf("smoothing %v: %v, want %v", smoothing, got, want)
				break
			}
		}
		if want[3] == 0 || want[3] == want[2] || want[5] == 0 || want[5] == want[4] {
			t.Errorf("%v shows nothing", want)
		}
	}
}

// Values that need no program: uniform logits cost ln V; a perfect answer to a smoothed target costs nothing; nothing but padding
// costs nothing, without dividing by zero; huge logits overflow nowhere.
func TestMeasureByHand(t *testing.T) {
	if m := measured(t, [][][]float64{{{0, 0, 0, 0}}}, [][]int32{{2}}, 0); math.Abs(m[6]-math.Log(4)) > 1e-15 || m[3] != 0 {
		t.Errorf("uniform over 4: %v", m)
	}
	perfect := []float64{math.Log(0.05), math.Log(0.05), math.Log(0.9)}
	if m := measured(t, [][][]float64{{perfect}}, [][]int32{{2}}, 0.1); math.Abs(m[6]) > 1e-15 || math.Abs(m[0]+math.Log(0.9)) > 1e-15 || m[5] != 1 {
		t.Errorf("the smoothed target itself: %v", m)
	}
	if m := measured(t, [][][]float64{{{1, 2, 3}}}, [][]int32{{0}}, 0.1); m != (measure{}) {
		t.Errorf("nothing: %v", m)
	}
	if m := measured(t, [][][]float64{{{1e4, -1e4, 0}}}, [][]int32{{1}}, 0); m[6] != 2e4 {
		t.Errorf("huge logits: %v", m)
	}
}

// A target that stands for unknown tokens costs what others cost, and never counts as correct.
// Caught when planted: a match of <unknown> that counts.
func TestUnknownTargets(t *testing.T) {
	logits := [][][]float64{{{0, 9, 0, 0}, {0, 0, 0, 9}}, {{0, 0, 9, 0}, {0, 9, 0, 0}}}
	target := [][]int32{{1, 3}, {2, 1}}
	without, with := measured(t, logits, target, 0.1), measuredWith(t, logits, target, 0.1, 3)
	if without[3] != 4 || without[5] != 2 || with[3] != 3 || with[5] != 1 {
		t.Errorf("%v without, %v with an unknown token", without, with)
	}
	without[3], without[5] = with[3], with[5]
	if with != without {
		t.Errorf("the cost is %v, without an unknown token %v", with, without)
	}
}

// The loss is the mean of the tokens plus the weight times the ponder cost of each adaptive stack; the tally holds what was counted.
// Caught when planted: a decoder that ponders for free, n of one stack reported for the other, a smoothed cross entropy tallied.
func TestObjectiveAddsThePonderCostOfEveryStack(t *testing.T) {
	backend := enginetest.Backend(t)
	target := [][]int32{{2, 1, 0}, {1, 0, 0}}
	exec, err := model.NewExec(backend, model.NewStore(), func(_ *model.Scope, target *Node) []*Node {
		g := target.Graph()
		pass := func(mask [][]bool, n, r [][]float32) *universal.Pass {
			return &universal.Pass{Mask: Const(g, mask), Outcome: halting.Outcome{Updates: Const(g, n), Remainders: Const(g, r)}}
		}
		result := universal.Result{
			Logits:  Const(g, [][][]float32{{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 9, 0}, {0, 0, 0}, {0, 0, 0}}}),
			Encoder: pass([][]bool{{true, true}, {true, false}}, [][]float32{{3, 2}, {1, 0}}, [][]float32{{.25, .5}, {.75, 0}}),
			Decoder: pass([][]bool{{true, true, false}, {true, false, false}}, [][]float32{{4, 4, 0}, {4, 0, 0}}, [][]float32{{.5, .5, 0}, {.5, 0, 0}}),
		}
		loss, tally := objective.Objective{LabelSmoothing: 0.1}.Of(result, target, Const(g, float32(0.5)))
		result.Decoder, result.Encoder.Remainders = nil, nil // fixed depth, and no decoder
		fixed, fixedTally := objective.Objective{LabelSmoothing: 0.1}.Of(result, target, Const(g, float32(0.5)))
		return []*Node{loss, tally, fixed, fixedTally}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(target)
	if err != nil {
		t.Fatal(err)
	}
	loss, tally := tensors.ToScalar[float32](out[0]), objective.Unpack(tensors.MustCopyFlatData[float32](out[1]))
	fixed, fixedTally := tensors.ToScalar[float32](out[2]), objective.Unpack(tensors.MustCopyFlatData[float32](out[3]))
	if price := float64(loss - fixed); math.Abs(price-0.5*((6+1.5)/3+4.5)) > 1e-5 {
		t.Errorf("pondering costs %v, want half of 2.5 + 4.5", price)
	}
	nine := -math.Log(math.Exp(9) / (math.Exp(9) + 2))
	for _, test := range []struct {
		what      string
		got, want float64
	}{
		{"loss", tally.MeanLoss(), float64(loss)}, {"cross entropy", tally.CrossEntropy(), (2*math.Log(3) + nine) / 3},
		{"tokens", tally.Tokens, 3}, {"token accuracy", tally.TokenAccuracy(), 1. / 3}, {"sequences", tally.Sequences, 2},
		{"sequence accuracy", tally.SequenceAccuracy(), 0.5}, {"encoder ponder", tally.EncoderPonder(), 2}, {"decoder ponder", tally.DecoderPonder(), 4},
		{"smoothed cross entropy", fixedTally.SmoothedEntropy(), float64(fixed)}, {"ponder", tally.Ponder(), 3}, {"ponder without decoder", fixedTally.Ponder(), 2}, {"decoder ponder without decoder", fixedTally.DecoderPonder(), 0},
	} {
		if math.Abs(test.got-test.want) > 1e-5 {
			t.Errorf("%s is %v, want %v", test.what, test.got, test.want)
		}
	}
}

// Sums of tallies are sums of all fields, so that means are over everything seen.
// Caught when planted: a field left out of the sum.
func TestTalliesAdd(t *testing.T) {
	a := objective.Unpack([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	b := objective.Unpack([]float32{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110})
	want := objective.Unpack([]float32{11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121})
	want.Batches = 2
	if got := a.Plus(b); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if zero := (objective.Tally{}); zero.MeanLoss() != 0 || zero.CrossEntropy() != 0 || zero.Ponder() != 0 || zero.SequenceAccuracy() != 0 {
		t.Error("means of nothing are not 0")
	}
}

// Caught when planted: a field that Finite does not look at.
func TestFinite(t *testing.T) {
	if !objective.Unpack(make([]float32, 11)).Finite() {
		t.Error("zeros are finite")
	}
	for field := range 11 {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			v := make([]float32, 11)
			v[field] = float32(bad)
			if objective.Unpack(v).Finite() {
				t.Errorf("%v in field %d is taken for finite", bad, field)
			}
		}
	}
}

// Caught when planted: a weight that starts at its full value or never reaches it, a delay of one update more, a warm-up without the delay.
func TestWarmup(t *testing.T) {
	for _, test := range []struct {
		w    objective.PonderSchedule
		step int64
		want float64
	}{
		{objective.PonderSchedule{Weight: 0.5}, 1, 0.5}, {objective.PonderSchedule{Weight: 0.5, Steps: 10}, 1, 0.05}, {objective.PonderSchedule{Weight: 0.5, Steps: 10}, 5, 0.25},
		{objective.PonderSchedule{Weight: 0.5, Steps: 10}, 10, 0.5}, {objective.PonderSchedule{Weight: 0.5, Steps: 10}, 1000, 0.5}, {objective.PonderSchedule{Weight: 0.5, Steps: 10}, 0, 0},
		{objective.PonderSchedule{Weight: 0.5, Steps: 10, Delay: 20}, 20, 0}, {objective.PonderSchedule{Weight: 0.5, Steps: 10, Delay: 20}, 21, 0.05},
		{objective.PonderSchedule{Weight: 0.5, Steps: 10, Delay: 20}, 29, 0.45}, {objective.PonderSchedule{Weight: 0.5, Steps: 10, Delay: 20}, 30, 0.5},
		{objective.PonderSchedule{Weight: 0.5, Delay: 20}, 1, 0}, {objective.PonderSchedule{Weight: 0.5, Delay: 20}, 20, 0}, {objective.PonderSchedule{Weight: 0.5, Delay: 20}, 21, 0.5},
	} {
		if got := test.w.At(test.step); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%+v in step %d: %v, want %v", test.w, test.step, got, test.want)
		}
	}
}

// divergence is objective.Divergence in loops.
func divergence(logits [][][]float64, target [][]int32) float64 {
	sum, places := 0.0, 0.0
	softmax := func(row []float64) []float64 {
		total, p := 0.0, make([]float64, len(row))
		for _, l := range row {
			total += math.Exp(l)
		}
		for v, l := range row {
			p[v] = math.Exp(l) / total
		}
		return p
	}
	for b := 0; b < len(target); b += 2 {
		for i := range target[b] {
			if target[b][i] == 0 {
				continue
			}
			places++
			p, q := softmax(logits[b][i]), softmax(logits[b+1][i])
			for v := range p {
				sum += p[v]*math.Log(p[v]/q[v]) + q[v]*math.Log(q[v]/p[v])
			}
		}
	}
	return sum / places
}

// The loss of R-Drop is the cross entropy and a quarter of its weight times the divergence of neighbouring rows, from their definitions.
// The mean of the losses of two parts, each by its share of the targets, is the loss of the whole. Caught when planted: a divergence that
// is not part of the share; rows i and i + B/2 compared; padding counted; KL(p||q) alone; a half in place of a quarter.
func TestRDropAgreesWithPlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	target := [][]int32{{3, 1, 0, 0}, {3, 1, 0, 0}, {2, 4, 5, 1}, {2, 4, 5, 1}, {1, 0, 0, 0}, {1, 0, 0, 0}}
	logits := make([][][]float64, len(target))
	for b := range logits {
		for range target[b] {
			row := make([]float64, 6)
			for v := range row {
				row[v] = 2 * rng.NormFloat64()
			}
			logits[b] = append(logits[b], row)
		}
	}
	loss := func(o objective.Objective, logits [][][]float64, target [][]int32, share float64) float64 {
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, logits, target *Node) *Node {
			zero := ScalarZero(logits.Graph(), logits.DType())
			loss, _ := o.OfPart(universal.Result{Logits: logits}, target, zero, objective.Share{Targets: AddScalar(zero, share)})
			return loss
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(logits, target)
		if err != nil {
			t.Fatal(err)
		}
		return tensors.ToScalar[float64](out[0])
	}
	whole := loss(objective.Objective{LabelSmoothing: 0.1, RDrop: 3}, logits, target, 1)
	parts := loss(objective.Objective{LabelSmoothing: 0.1, RDrop: 3}, logits[:2], target[:2], 2*4./14) + // 4 of 14 targets are here
		loss(objective.Objective{LabelSmoothing: 0.1, RDrop: 3}, logits[2:], target[2:], 2*10./14)
	if math.Abs(parts/2-whole) > 1e-12*whole {
		t.Errorf("the mean of two parts by their shares is %v, the loss of the whole %v", parts/2, whole)
	}
	want := plain(logits, target, 0.1)[6] + 3.0/4*divergence(logits, target)
	if got := whole; math.Abs(got-want) > 1e-12*want {
		t.Errorf("loss %v, want %v", got, want)
	}
	for b := 0; b < len(logits); b += 2 {
		logits[b+1] = logits[b]
	}
	if got, want := loss(objective.Objective{RDrop: 3}, logits, target, 1), loss(objective.Objective{}, logits, target, 1); got != want {
		t.Errorf("equal predictions: loss %v, want %v", got, want)
	}
}
