package universal_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// observed is what a model returns with ReturnReadouts, flat.
type observed struct {
	logits   []float64
	readouts [][]float64    // [T]
	updates  [2][]float64   // of encoder and decoder, nil without one
	changes  [2][][]float64 // [T]
}

// observe runs a model on rows of ids with the given variables.
func observe(t *testing.T, m universal.Model, store *model.Store, source, target [][]int32, options universal.Options) (o observed) {
	t.Helper()
	var places []func([]float64)
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, nodes []*Node) []*Node {
		in := universal.Inputs{Target: nodes[1]}
		if hasSource(m) {
			in.Source = nodes[0]
		}
		result := m.Forward(scope, in, options)
		var list []*Node
		add := func(node *Node, place func(v []float64)) { list, places = append(list, node), append(places, place) }
		add(result.Logits, func(v []float64) { o.logits = v })
		for _, r := range result.Readouts {
			add(r, func(v []float64) { o.readouts = append(o.readouts, v) })
		}
		for i, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
			if pass == nil {
				continue
			}
			add(pass.Updates, func(v []float64) { o.updates[i] = v })
			for _, c := range pass.Changes {
				add(c, func(v []float64) { o.changes[i] = append(o.changes[i], v) })
			}
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(source, target)
	if err != nil {
		t.Fatal(err)
	}
	for i, place := range places {
		place(flat(out[i]))
	}
	return o
}

// atDepth returns the model whose stack that is read out runs t steps: exactly, or at most under an adaptive policy.
func atDepth(t *testing.T, m universal.Model, steps int) universal.Model {
	t.Helper()
	exit := halting.Exit{EncoderSteps: steps}
	if hasTarget(m) {
		exit = halting.Exit{DecoderSteps: steps}
	}
	deep := m.(universal.Deep)
	if _, isFixed := policyOf(m).(halting.Fixed); !isFixed {
		policy, err := policyOf(m).WithExit(halting.Exit{Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case universal.EncoderDecoder:
			m.DecoderHalting, m.OwnSteps = policy, 4
			return m
		case universal.Encoder:
			m.Halting = policy
			return m
		case universal.Pointer:
			m.Halting = policy
			return m
		case universal.Decoder:
			m.Halting, m.OwnSteps = policy, 4
			return m
		}
	}
	changed, err := deep.WithExit(exit)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func policyOf(m universal.Model) halting.Policy {
	switch m := m.(type) {
	case universal.EncoderDecoder:
		return m.Halting
	case universal.Encoder:
		return m.Halting
	case universal.Pointer:
		return m.Halting
	}
	return m.(universal.Decoder).Halting
}

// The readout after the last step is the model's output, bit for bit, and the readout after step t is that of the model whose stack runs
// t steps: with --decoder-steps t for fixed depth, at most t for adaptive. Asking for readouts changes no output.
// Caught when planted: a readout of the state instead of the weighted sum; the norm of another layer; no norm; the readout of the step
// before.
func TestReadouts(t *testing.T) {
	source, target := [][]int32{{3, 2, 6, 4, 5}, {5, 4, 0, 0, 0}}, [][]int32{{2, 4, 3, 2}, {4, 3, 1, 0}}
	list := variants(dtypes.Float32)
	p := pointer()
	p.Precision = dtypes.Float32
	list = append(list, variant{name: "Pointer/frozen", model: p})
	for _, v := range list {
		t.Run(v.name, func(t *testing.T) {
			store := model.NewStore()
			observe(t, v.model, store, source, target, universal.Options{}) // makes the variables
			scramble(t, store)
			plain := observe(t, v.model, store, source, target, universal.Options{})
			got := observe(t, v.model, store, source, target, universal.Options{ReturnReadouts: true})
			if !slices.Equal(got.logits, plain.logits) {
				t.Errorf("asking for readouts changes the output by %v", distance(got.logits, plain.logits))
			}
			if plain.readouts != nil || len(got.readouts) < 3 || !slices.Equal(got.readouts[len(got.readouts)-1], got.logits) {
				t.Fatalf("%d readouts, of which the last is not the output", len(got.readouts))
			}
			if distance(got.readouts[0], got.readouts[1]) < 1e-3 {
				t.Error("two steps answer the same: the case shows nothing")
			}
			for i, readout := range got.readouts {
				want := observe(t, atDepth(t, v.model, i+1), store, source, target, universal.Options{}).logits
				if !slices.Equal(readout, want) {
					t.Errorf("the readout after step %d differs from the output of %d steps by %v", i+1, i+1, distance(readout, want))
				}
			}
		})
	}
}

// The readouts of a decoder have factors, whose products they are; those of others have none.
// Caught when planted: the factors of another step.
func TestReadoutFactors(t *testing.T) {
	c := small()
	c.PreNorm = true
	for _, m := range []universal.Model{universal.EncoderDecoder{Config: c}, universal.Decoder{Config: c}, universal.Encoder{Config: c}} {
		source, target := [][]int32{{3, 2, 6}, {5, 4, 0}}, [][]int32{{2, 4, 1}, {3, 1, 0}}
		store := newMachineStore(t, m, source, target)
		exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, nodes []*Node) []*Node {
			in := universal.Inputs{Source: nodes[0], Target: nodes[1]}
			if !hasSource(m) {
				in.Source = nil
			}
			result := m.Forward(scope, in, universal.Options{ReturnReadouts: true})
			if n := len(result.ReadoutFactors); len(result.Readouts) != 3 || hasTarget(m) && n != 3 || !hasTarget(m) && n != 0 {
				t.Errorf("%T: %d factors of %d readouts", m, n, len(result.Readouts))
			}
			list := result.Readouts
			for _, f := range result.ReadoutFactors {
				list = append(list, f.Logits())
			}
			return list
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(source, target)
		if err != nil {
			t.Fatal(err)
		}
		for i := 3; i < len(out); i++ {
			if d := distance(flat(out[i]), flat(out[i-3])); d > 1e-12 {
				t.Errorf("%T, step %d: the product of the factors is off by %v", m, i-2, d)
			}
		}
	}
}

// The change of a state is the norm of the difference between the states of models with t and t-1 steps; it is 0 once a position has
// halted under Frozen. Caught when planted: the change against the first state; the mean for the root of the sum.
func TestChanges(t *testing.T) {
	c := small()
	c.Precision, c.Halting = dtypes.Float64, halting.Fixed{Steps: 3}
	source, target := [][]int32{{3, 2, 6, 4, 5}}, [][]int32{{2, 4, 3, 2}}
	m := universal.EncoderDecoder{Config: c}
	x := newMachine(t, m)
	got := observe(t, m, x.store, source, target, universal.Options{ReturnReadouts: true})
	state := func(steps int) []float64 {
		changed, err := m.WithExit(halting.Exit{DecoderSteps: steps})
		if err != nil {
			t.Fatal(err)
		}
		y := &machine{t: t, model: changed, store: x.store}
		if y.exec, err = model.NewExec(enginetest.Backend(t), x.store, y.graph); err != nil {
			t.Fatal(err)
		}
		defer y.exec.Finalize()
		return y.run(source, target)["decoder.state"]
	}
	for step := 2; step <= 3; step++ {
		before, after := state(step-1), state(step)
		for position := range target[0] {
			sum := 0.0
			for d := range c.Width {
				sum += math.Pow(after[position*c.Width+d]-before[position*c.Width+d], 2)
			}
			if d := math.Abs(got.changes[1][step-1][position] - math.Sqrt(sum)); d > 1e-12 {
				t.Errorf("step %d, position %d: off by %v", step, position, d)
			}
		}
	}
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	frozen := universal.EncoderDecoder{Config: c}
	got = observe(t, frozen, newMachine(t, frozen).store, source, target, universal.Options{ReturnReadouts: true})
	for i, updates := range got.updates {
		for position, n := range updates {
			for step, row := range got.changes[i] {
				if ran := float64(step) < n; ran != (row[position] > 0) {
					t.Errorf("stack %d, position %d of %v steps: change %v in step %d", i, position, n, row[position], step+1)
				}
			}
		}
	}
}

// A rule ends each position after the first step at which the readouts so far, of the same positions, satisfy it; all positions of a
// classifier or a pointer end together. The encoder of an encoder-decoder keeps its policy.
// Caught when planted: a rule that reads one position for all; a rule in the encoder of an encoder-decoder.
func TestRulesEndPositions(t *testing.T) {
	source, target := [][]int32{{3, 2, 6, 4, 5}, {5, 4, 0, 0, 0}}, [][]int32{{2, 4, 3, 2}, {4, 3, 1, 2}}
	c := small()
	c.Precision, c.Halting = dtypes.Float64, halting.Fixed{Steps: 6}
	for _, m := range []universal.Deep{universal.EncoderDecoder{Config: c}, universal.Encoder{Config: c}, universal.Decoder{Config: c}, universal.Pointer{Config: withTarget(c, c.SourceVocabulary), Separator: separator}} {
		store := newMachineStore(t, m, source, target)
		depths := map[float64]bool{}
		for _, least := range []float64{0.5, 0.7, 0.9, 0.99} {
			exited, err := m.WithExit(halting.Exit{Rule: halting.Confidence{Least: least}})
			if err != nil {
				t.Fatal(err)
			}
			got := observe(t, exited, store, source, target, universal.Options{ReturnReadouts: true})
			stack, rows, positions := 1, 2, 4
			if classifies(m) || isPointer(m) {
				stack, positions = 0, 5
			} else if hasSource(m) && slices.ContainsFunc(got.updates[0], func(n float64) bool { return n != 6 && n != 0 }) {
				t.Errorf("%T: the encoder ran %v steps, want 6", m, got.updates[0])
			}
			vocabulary := len(got.readouts[0]) / rows
			if stack == 1 {
				vocabulary /= positions
			}
			for at, n := range got.updates[stack] {
				if n == 0 { // padding
					continue
				}
				depths[n] = true
				place := at
				if stack == 0 {
					place = at / positions
				}
				if want := firstConfident(got.readouts, place*vocabulary, vocabulary, least); n != want {
					t.Errorf("%T, confidence %v: position %d ran %v steps, want %v", m, least, at, n, want)
				}
			}
		}
		if len(depths) < 2 {
			t.Errorf("%T: all ran %v steps: the case shows nothing", m, depths)
		}
	}
}

// firstConfident returns the first step whose softmax over the logits from start has a probability of at least least, or the last step.
func firstConfident(readouts [][]float64, start, vocabulary int, least float64) float64 {
	for step, logits := range readouts {
		sum, maximum := 0.0, 0.0
		for _, l := range logits[start : start+vocabulary] {
			sum, maximum = sum+math.Exp(l), max(maximum, math.Exp(l))
		}
		if maximum/sum >= least {
			return float64(step + 1)
		}
	}
	return float64(len(readouts))
}

func withTarget(c universal.Config, vocabulary int) universal.Config {
	c.TargetVocabulary = vocabulary
	return c
}

func isPointer(m universal.Model) bool { _, ok := m.(universal.Pointer); return ok }

func newMachineStore(t *testing.T, m universal.Model, source, target [][]int32) *model.Store {
	t.Helper()
	store := model.NewStore()
	observe(t, m, store, source, target, universal.Options{})
	scramble(t, store)
	return store
}

// Steps of a stack that the model does not have, and more steps than have weights, are errors; a policy that does not call After has
// neither rules nor readouts.
func TestExitsThatModelsCannotTake(t *testing.T) {
	c := small()
	for _, test := range []struct {
		model universal.Deep
		exit  halting.Exit
		want  string
	}{
		{universal.Encoder{Config: c}, halting.Exit{DecoderSteps: 2}, "exit decoder_steps is 2, but the model has no decoder"},
		{universal.Pointer{Config: c}, halting.Exit{DecoderSteps: 2}, "exit decoder_steps is 2, but the model has no decoder"},
		{universal.Decoder{Config: c}, halting.Exit{EncoderSteps: 2}, "exit encoder_steps is 2, but a language model has no encoder"},
		{universal.EncoderDecoder{Config: withLearnedSteps(c)}, halting.Exit{DecoderSteps: 4}, "exit decoder_steps is 4, but the model has weights for 3 steps"},
		{universal.EncoderDecoder{Config: withLearnedSteps(c)}, halting.Exit{EncoderSteps: 5}, "exit encoder_steps is 5, but the model has weights for 3 steps"},
		{universal.EncoderDecoder{Config: c}, halting.Exit{Rule: halting.Confidence{Least: 2}}, "exit confidence: the probability is 2"},
	} {
		if _, err := test.model.WithExit(test.exit); err == nil || fmt.Sprint(err)[:min(len(test.want), len(err.Error()))] != test.want {
			t.Errorf("%T, %s: %v, want %q", test.model, test.exit, err, test.want)
		}
	}
	c.Halting = silent{halting.Fixed{Steps: 2}}
	m := universal.Decoder{Config: c}
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Target: target}, universal.Options{ReturnReadouts: true}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call(tensors.FromValue([][]int32{{2, 3}})); err == nil {
		t.Error("a policy that calls no After has readouts")
	}
}

func withLearnedSteps(c universal.Config) universal.Config {
	c.LearnedSteps = true
	return c
}

// silent is a policy that does not call After.
type silent struct{ halting.Fixed }

func (s silent) Unroll(scope *model.Scope, r halting.Recurrence) halting.Outcome {
	r.After = nil
	return s.Fixed.Unroll(scope, r)
}
