package training_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// unigram predicts every token from one parameter for each: logits [V], initially 0.
type unigram struct{ vocabulary int }

func (unigram) Validate() error { return nil }

func (m unigram) Forward(scope *model.Scope, in universal.Inputs, _ universal.Options) universal.Result {
	logits := scope.WithInitializer(initializer.Zero).VariableWithShape("logits", shapes.Make(dtypes.Float32, m.vocabulary))
	dims := in.Target.Shape().Dimensions
	return universal.Result{Logits: BroadcastToDims(ExpandAxes(logits.NodeValue(in.Target), 0, 1), dims[0], dims[1], m.vocabulary)}
}

// unequal has targets of 11 and of 101 tokens in turns, with sources of 3 and 17.
func unequal(i int64) task.Example {
	n, source, token := 10, 3, vocab.ID(2)
	if i%2 == 1 {
		n, source, token = 100, 17, 3
	}
	target := slices.Repeat([]vocab.ID{token}, n)
	return task.Example{Source: slices.Repeat([]vocab.ID{2, 4, 5}, 6)[:source], Target: append(target, vocab.End)}
}

// firstUpdate makes one update of the first two examples, in so many batches.
func firstUpdate(t *testing.T, m universal.Model, batches int, weigh bool, change func(*schedule.Config)) *training.Trainer {
	t.Helper()
	c := config(1)
	c.Schedule, c.ClipNorm, c.Average, c.LogEvery = schedule.Constant{LearningRate: 1e-4}, 0, 0, 1
	c.Ponder = objective.PonderSchedule{Weight: 0.3}
	c.Accumulate, c.WeighByTokens = batches, weigh
	change(&c)
	rows := 2 / batches
	tr := trainerOf(t, c, m, unequal, batch.Plan{Rows: rows, MaxSource: 20, MaxTarget: 120, Window: rows, Boundaries: []int{120}})
	run(t, tr)
	return tr
}

// moments are Adam's first moments after one update, 1 - beta1 = 0.1 of the gradient, by parameter.
func moments(tr *training.Trainer) map[string][]float32 {
	found := map[string][]float32{}
	for v := range tr.Store.IterVariables() {
		if strings.HasSuffix(v.Path(), "_1st_moment") {
			found[v.Path()] = tensors.MustCopyFlatData[float32](v.MustValue())
		}
	}
	return found
}

// With one logit for each of V tokens, all 0, the gradient of the cross entropy of a batch is 1/V - c/T for a token that is c of its T targets.
// Here V is 6, the first batch has token 2 10 times and End once, the second token 3 100 times and End once. Weighed by tokens, the counts
// add up: 2 of 112 are End. Otherwise it is the mean of two gradients: End is 1/11 and 1/101.
// Caught when planted: shares of the other batch, of the tokens in place of those relative to the mean, shares without the rule.
func TestWeighByTokensClosedForm(t *testing.T) {
	for weigh, shares := range map[bool][]float64{ // of End, 2 and 3
		true:  {2. / 112, 10. / 112, 100. / 112},
		false: {(1./11 + 1./101) / 2, 10. / 11 / 2, 100. / 101 / 2},
	} {
		want, norm := make([]float64, 6), 0.0
		for v := range want {
			if want[v] = 1. / 6; v >= 1 && v <= 3 {
				want[v] -= shares[v-1]
			}
			norm += want[v] * want[v]
		}
		tr := firstUpdate(t, unigram{6}, 2, weigh, func(c *schedule.Config) { c.LabelSmoothing = 0 })
		for path, moment := range moments(tr) {
			for v := range want {
				if math.Abs(float64(moment[v])-0.1*want[v]) > 1e-7 {
					t.Errorf("weighed %v: the gradient of %s[%d] is %v, want %v", weigh, path, v, 10*moment[v], want[v])
				}
			}
		}
		if logged, _ := metrics(t, tr)[0].Number("gradient_norm"); math.Abs(logged-math.Sqrt(norm)) > 1e-6 {
			t.Errorf("weighed %v: the norm is %v, want %v", weigh, logged, math.Sqrt(norm))
		}
	}
}

// Weighed by tokens, the gradient of two batches of 11 and 101 tokens is that of one batch of both, to rounding: cross entropy with
// smoothing, the ponder cost of encoder and decoder, the divergence from a prior, and the answers after every step. Without weights it is
// far from that.
// Caught when planted: the decoder's ponder cost weighed by sources, the encoder's by targets.
func TestBatchesWeighedAreOneBatch(t *testing.T) {
	adaptive := universal.EncoderDecoder{Config: tiny()}
	adaptive.Dropout, adaptive.Positions = universal.Dropout{}, nil
	language := universal.Decoder(adaptive)
	language.SourceVocabulary = 0
	prior := objective.GeometricPrior{Lambda: 0.4}
	for name, c := range map[string]struct {
		model     universal.Model
		objective objective.Objective
	}{
		"adaptive": {adaptive, objective.Objective{LabelSmoothing: 0.1}}, "language model": {language, objective.Objective{LabelSmoothing: 0.1}},
		"prior": {adaptive, objective.Objective{PonderCost: prior}}, "supervised": {adaptive, objective.Objective{Supervision: objective.Geometric{Lambda: 0.4}}},
		"expected loss": {language, objective.Objective{Supervision: objective.Halting{}, PonderCost: prior, LabelSmoothing: 0.1}},
	} {
		change := func(to *schedule.Config) { to.Objective = c.objective }
		whole := moments(firstUpdate(t, c.model, 1, true, change))
		difference := func(weigh bool) float64 {
			parts := moments(firstUpdate(t, c.model, 2, weigh, change))
			sum, norm := 0.0, 0.0
			for path, want := range whole {
				for i := range want {
					d := float64(parts[path][i] - want[i])
					sum, norm = sum+d*d, norm+float64(want[i])*float64(want[i])
				}
			}
			return math.Sqrt(sum / norm)
		}
		if d := difference(true); !(d < 2e-6) {
			t.Errorf("%s: the gradient of two batches differs from that of one by %v of its norm", name, d)
		}
		if d := difference(false); !(d > 0.05) {
			t.Errorf("%s: without weights the difference is %v: the case shows nothing", name, d)
		}
	}
}
