package universal

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
)

// places are the four rates, one at a time.
var places = []struct {
	name string
	Dropout
}{
	{"embedding", Dropout{Embedding: 0.3}}, {"attention", Dropout{Attention: 0.3}},
	{"transition", Dropout{Transition: 0.3}}, {"residual", Dropout{Residual: 0.3}},
}

// Every rate acts in training, differently every time, and none in evaluation, where the bits are those of a model without dropout.
// Caught when planted: a rate that is read nowhere, one in another's place.
func TestDropoutActsInTrainingOnly(t *testing.T) {
	run := func(d Dropout, training bool) (first, second []float32) {
		for _, transition := range []Transition{FeedForward{Filter: 8}, SeparableConvolution{Filter: 8}} {
			c := Config{
				SourceVocabulary: 5, TargetVocabulary: 5, Width: 8, Heads: 2, Dropout: d, Seed: 3,
				Transition: transition, Halting: halting.Fixed{Steps: 2},
			}
			store := model.NewStore()
			if err := store.SetRNGStateFromSeed(7); err != nil {
				t.Fatal(err)
			}
			exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
				scope.Store().SetTraining(source.Graph(), training)
				return EncoderDecoder{c}.Forward(scope, Inputs{Source: source, Target: target}, Options{}).Logits
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			for _, into := range []*[]float32{&first, &second} {
				out, err := exec.Call([][]int32{{2, 3, 4}}, [][]int32{{4, 2}})
				if err != nil {
					t.Fatal(err)
				}
				*into = append(*into, tensors.MustCopyFlatData[float32](out[0])...)
			}
		}
		return first, second
	}
	plain, _ := run(Dropout{}, true)
	for _, place := range places {
		if first, second := run(place.Dropout, false); !slices.Equal(first, plain) || !slices.Equal(second, plain) {
			t.Errorf("%s: dropout in evaluation", place.name)
		}
		if first, second := run(place.Dropout, true); slices.Equal(first, plain) || slices.Equal(second, plain) || slices.Equal(first, second) {
			t.Errorf("%s: no dropout in training, or the same twice", place.name)
		}
	}
}

// In each place the rate is the share of values zeroed, and what is kept is scaled up by 1/(1-rate), so that expectations stay; but for
// 1/p, to which rates are rounded.
// Each place is isolated such that its mask can be read from the output: what goes in is 1 everywhere.
// With n values, the share is off by more than 6.2 standard deviations in fewer than 1 of 10^9 runs.
// Caught when planted: a rate that is its complement, one place's rate in another.
func TestDropoutRates(t *testing.T) {
	const rows, length, width, rate = 40, 5, 4, 0.3
	for _, place := range places {
		c := Config{SourceVocabulary: 3, Width: width, Heads: width, Dropout: place.Dropout, Seed: 3, Transition: FeedForward{}, Halting: halting.Fixed{}}
		store := model.NewStore()
		if err := store.SetRNGStateFromSeed(7); err != nil {
			t.Fatal(err)
		}
		identity := make([]float32, width*width)
		for i := range width {
			identity[i*width+i] = 1
		}
		for path, value := range map[string]*tensors.Tensor{
			"/embedding/source":             tensors.FromFlatDataAndDimensions(slices.Repeat([]float32{1}, 3*width), 3, width),
			"/self_attention/value":         tensors.FromFlatDataAndDimensions(identity, width, width),
			"/self_attention/output":        tensors.FromFlatDataAndDimensions(identity, width, width),
			"/transition/inner/weight":      tensors.FromFlatDataAndDimensions(identity, width, width),
			"/transition/outer/weight":      tensors.FromFlatDataAndDimensions(identity, width, width),
			"/convolution/first/depthwise":  tensors.FromFlatDataAndDimensions(middle(3), 3, width),
			"/convolution/first/pointwise":  tensors.FromFlatDataAndDimensions(identity, width, width),
			"/convolution/second/depthwise": tensors.FromFlatDataAndDimensions(middle(5), 5, width),
			"/convolution/second/pointwise": tensors.FromFlatDataAndDimensions(identity, width, width),
		} {
			if _, err := store.CreateVariable(path, value); err != nil {
				t.Fatal(err)
			}
		}
		exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, ids *Node) []*Node {
			scope.Store().SetTraining(ids.Graph(), true)
			ones := BroadcastToDims(Const(ids.Graph(), float32(1)), rows, length, width)
			s := c.newStack(scope, ids, coordinates{}, nil, Options{})
			switch place.name {
			case "embedding":
				return []*Node{c.newSourceStack(scope, c.embedding(), Inputs{Source: ids}, Options{}).run().State} // of no step
			case "attention": // each position alone in its row sees itself with weight 1
				s = c.newStack(scope, Reshape(ids, rows*length, 1), coordinates{}, nil, Options{})
				return []*Node{s.selfAttention(1, Reshape(ones, rows*length, 1, width))}
			case "transition":
				c := TransitionContext{Mask: s.mask, Drop: func(x *Node) *Node { return s.masks.drop(x, s.Dropout.Transition) }}
				return []*Node{
					FeedForward{Filter: width}.Apply(scope.At("transition"), ones, c),
					SeparableConvolution{Filter: width}.Apply(scope.At("convolution"), ones, c),
				}
			}
			return []*Node{s.drop(ones)}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		var values []float32
		for range 10 {
			out, err := exec.Call(tensors.FromFlatDataAndDimensions(slices.Repeat([]int32{2}, rows*length), rows, length))
			if err != nil {
				t.Fatal(err)
			}
			for _, tensor := range out {
				values = append(values, tensors.MustCopyFlatData[float32](tensor)...)
			}
		}
		zeroed, n := 0.0, float64(len(values))
		for _, v := range values {
			if v == 0 {
				zeroed++
			} else if math.Abs(float64(v)-1/(1-rate)) > 1e-3 {
				t.Fatalf("%s: 1 became %v, want 0 or %v", place.name, v, 1/(1-rate))
			}
		}
		if off := (math.Abs(zeroed/n-rate) - 1.0/prime) / math.Sqrt(rate*(1-rate)/n); off > 6.2 {
			t.Errorf("%s: %.4f of %v values were zeroed, want %v: %.1f standard deviations", place.name, zeroed/n, n, rate, off)
		}
	}
}

// Rates are rounded to odd numbers of the p = 2887 residues, at least 1 and at most p - 2; what is kept is divided by the rest of them.
// Caught when planted: a rate rounded down; nothing kept at the largest rates.
func TestKeptValuesOfRates(t *testing.T) {
	kept := map[float64]float64{1e-9: 2886, 0.0007: 2884, 0.1: 2598, 0.5: 1444, 0.9: 288, 0.9985: 4, 0.9999: 2} // of 2887
	store := model.NewStore()
	if err := store.SetRNGStateFromSeed(7); err != nil {
		t.Fatal(err)
	}
	var rates []float64
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, x *Node) (all []*Node) {
		scope.Store().SetTraining(x.Graph(), true)
		ids := OnesLike(ConvertDType(Squeeze(SliceAxis(x, 2, AxisElem(0)), 2), int32Type))
		m := Config{Dropout: Dropout{Residual: 0.5}}.newMasks(scope, ids)
		for rate := range kept {
			rates, all = append(rates, rate), append(all, m.drop(x, rate))
		}
		return all
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	ones := slices.Repeat([]float32{1}, 100*400)
	out, err := exec.Call(tensors.FromFlatDataAndDimensions(ones, 1, 100, 400))
	if err != nil {
		t.Fatal(err)
	}
	for i, rate := range rates {
		n := 0.0
		for _, v := range tensors.MustCopyFlatData[float32](out[i]) {
			if want := 2887 / kept[rate]; v != 0 && !(math.Abs(float64(v)-want) < 1e-6*want) {
				t.Fatalf("rate %v: 1 became %v, want 0 or %v", rate, v, want)
			} else if v != 0 {
				n++
			}
		}
		share := kept[rate] / 2887
		if off := math.Abs(n-40000*share) / math.Sqrt(40000*share*(1-share)); off > 6.2 {
			t.Errorf("rate %v: %v of 40000 values are kept, %.1f standard deviations off", rate, n, off)
		}
	}
}

// middle is a depthwise kernel that lets everything pass: 1 in the middle.
func middle(width int) []float32 {
	kernel := make([]float32, width*4)
	for channel := range 4 {
		kernel[width/2*4+channel] = 1
	}
	return kernel
}

// Masks look independent: of neighbouring channels, of neighbouring positions, of two places, of two updates, and of squares of two
// positions and two channels, of which a hash of two keys might know too much. Each product of centred masks has mean 0 and, in
// units of its standard deviation, is beyond 6.2 in fewer than 1 of 10^9 runs.
// Caught when planted: keys that are added instead of multiplied; the same channel keys in both places.
func TestDropoutMasksAreIndependent(t *testing.T) {
	const rows, length, width, rate = 12, 50, 64, 0.25
	c := Config{SourceVocabulary: 3, Width: width, Heads: 1, Dropout: Dropout{Residual: rate}, Transition: FeedForward{}, Halting: halting.Fixed{}}
	store := model.NewStore()
	if err := store.SetRNGStateFromSeed(11); err != nil {
		t.Fatal(err)
	}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, ids *Node) []*Node {
		scope.Store().SetTraining(ids.Graph(), true)
		s := c.newStack(scope, ids, coordinates{}, nil, Options{})
		ones := BroadcastToDims(Const(ids.Graph(), float32(1)), rows, length, width)
		return []*Node{s.drop(ones), s.drop(ones)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var masks [][]float64 // two places of one update, then of the next: [rows*length*width], centred and scaled
	for range 2 {
		out, err := exec.Call(tensors.FromFlatDataAndDimensions(slices.Repeat([]int32{2}, rows*length), rows, length))
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range out {
			var mask []float64
			for _, v := range tensors.MustCopyFlatData[float32](tensor) {
				kept := 0.0
				if v != 0 {
					kept = 1
				}
				mask = append(mask, (kept-(1-rate))/math.Sqrt(rate*(1-rate)))
			}
			masks = append(masks, mask)
		}
	}
	one := masks[0]
	check := func(what string, product func(i int) float64) {
		t.Helper()
		sum, n := 0.0, 0.0
		for i := range len(one) - length*width {
			sum, n = sum+product(i), n+1
		}
		if off := math.Abs(sum) / math.Sqrt(n); off > 6.2 {
			t.Errorf("%s: %.1f standard deviations off", what, off)
		}
	}
	check("channels", func(i int) float64 { return one[i] * one[i+1] })
	check("positions", func(i int) float64 { return one[i] * one[i+width] })
	check("rows", func(i int) float64 { return one[i] * one[i+length*width] })
	check("places", func(i int) float64 { return one[i] * masks[1][i] })
	check("updates", func(i int) float64 { return one[i] * masks[2][i] })
	check("squares", func(i int) float64 { return one[i] * one[i+1] * one[i+width] * one[i+width+1] })
	check("lines", func(i int) float64 { return one[i] * one[i+width] * one[i+2*width] })
}
