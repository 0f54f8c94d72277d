package experiment_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task/generated"
)

// Types as another module could define them, with fields that JSON may not be able to record.
type (
	Weighed struct {
		halting.Fixed
		Factor  float64            `json:"factor"`
		Levels  []float32          `json:"levels"`
		Named   map[string]float64 `json:"named"`
		Inner   *Inner             `json:"inner"`
		Any     any
		Silent  float64 `json:"-"`
		private float64
	}
	Inner  struct{ Next *Inner }
	Hooked struct {
		halting.Fixed
		Hook func(int) int `json:"hook"`
	}
	Channel struct {
		halting.Fixed
		Done chan int
	}
	Complex struct {
		halting.Fixed
		Root complex128 `json:"root,omitempty"`
	}
	Mute struct{ halting.Fixed }
)

// MarshalJSON returns an error.
func (Mute) MarshalJSON() ([]byte, error) { return nil, errors.New("silence") }

// Validate and Set return an error for a field that JSON cannot record, and name it; before, JSON panicked. What JSON records, or leaves
// out, is valid. Caught when planted: no check of a part.
func TestFieldsThatJSONCannotRecord(t *testing.T) {
	fixed := halting.Fixed{Steps: 2}
	circle := &Inner{}
	circle.Next = circle
	for want, policy := range map[string]halting.Policy{
		"model.halting.go:Weighed.factor is NaN: it must be a finite number":                                         Weighed{Fixed: fixed, Factor: math.NaN()},
		"model.halting.go:Weighed.levels[1] is +Inf: it must be a finite number":                                     Weighed{Fixed: fixed, Levels: []float32{1, float32(math.Inf(1))}},
		"model.halting.go:Weighed.named[b] is -Inf: it must be":                                                      Weighed{Fixed: fixed, Named: map[string]float64{"a": 1, "b": math.Inf(-1)}},
		"model.halting.go:Weighed.Any is NaN: it must be":                                                            Weighed{Fixed: fixed, Any: math.NaN()},
		"model.halting.go:Weighed.Any[0].factor is NaN: it must be":                                                  Weighed{Fixed: fixed, Any: []any{Weighed{Factor: math.NaN()}}},
		"model.halting.go:Weighed.inner.Next.":                                                                       Weighed{Fixed: fixed, Inner: circle},
		"model.halting.go:Hooked.hook is of type func(int) int, which JSON cannot record: leave the field out of it": Hooked{Fixed: fixed},
		"model.halting.go:Channel.Done is of type chan int, which":                                                   Channel{Fixed: fixed},
		"model.halting.go:Complex.root is of type complex128, which":                                                 Complex{Fixed: fixed, Root: 1i},
		"model.halting.go:Mute cannot be recorded as JSON: ":                                                         Mute{fixed},
	} {
		r := foreign().WithPolicy(policy)
		_, set := r.Set("seed=2")
		for from, err := range map[string]error{"Validate": r.Validate(), "Set": set} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %q", from, err, want)
			}
		}
	}
	good := foreign().WithPolicy(Weighed{Fixed: fixed, Factor: 1, Levels: []float32{2}, Silent: math.NaN(), private: math.NaN(), Any: "text"})
	if err := good.Validate(); err != nil || !strings.Contains(string(good.JSON()), `"Any": "text"`) {
		t.Errorf("%v, %s", err, good.JSON())
	}
}

// A task without a name is an error that says so, and is not taken for one of an unknown name. Caught when planted: the key "go:".
func TestExtensionWithoutName(t *testing.T) {
	r := experiment.Defaults()
	r.Name = "unnamed"
	r.Task = experiment.Task{Value: generated.Task{Vocabulary: []string{"a"}, MaxLength: 2, Draw: func(*rand.Rand, int) (source, target []string) { return nil, nil }}}
	_, set := r.Set("seed=2")
	for from, err := range map[string]error{"Validate": r.Validate(), "Set": set} {
		if err == nil || err.Error() != "task: name is empty: give the task a name" {
			t.Errorf("%s: %v", from, err)
		}
	}
	policy := foreign().WithPolicy(Alias{Fixed: halting.Fixed{Steps: 2}})
	if err := policy.Validate(); err == nil || err.Error() != "model.halting: the ExtensionName of experiment_test.Alias is empty: return a name" {
		t.Errorf("a policy without a name: %v", err)
	}
}
