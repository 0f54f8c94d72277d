package experiment_test

import (
	"math/big"
	"reflect"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
)

// Sharing is a policy whose fields refer to memory that a copy shares.
type Sharing struct {
	halting.Fixed
	inner
	Marks   []int          `json:"marks"`
	Names   map[string]int `json:"names"`
	Point   *Place         `json:"point"`
	Any     any            `json:"any"`
	Pairs   [2][]int       `json:"pairs"`
	Number  *big.Int       `json:"number"`
	Kept    []int          `json:"kept,omitempty"`
	Ignored *Place         `json:"-"`
}

type inner struct {
	Inside map[string]int `json:"inside"`
}

type Place struct {
	X     int   `json:"x,omitempty"`
	Y     int   `json:"y"`
	Marks []int `json:"marks"`
}

// Pointed is a policy that is recorded although it is a pointer.
type Pointed struct {
	halting.Fixed
	Mark int `json:"mark"`
}

func (*Pointed) ExtensionName() string { return "pointed" }

func sharing() Sharing {
	return Sharing{
		Fixed: halting.Fixed{Steps: 2}, inner: inner{map[string]int{"a": 1}}, Marks: []int{1, 2, 3}, Names: map[string]int{"a": 1},
		Point: &Place{X: 1, Y: 2, Marks: []int{1}}, Any: &Place{Y: 2}, Pairs: [2][]int{{1}, {2}},
		Number: big.NewInt(77), Kept: []int{4}, Ignored: &Place{Y: 5},
	}
}

// A run that is read shares nothing that reading changes, neither with the values in Extensions nor with other runs; slices and maps that
// JSON names have what it says, others what the value has. Caught when planted: a copy that shares slices, maps, pointers, pointers in
// interfaces, elements of arrays, fields of embedded structs or the memory of a big.Int; null that leaves the value's slice; lists and maps
// that JSON does not name left empty, also below pointers and in arrays; a copy of what JSON ignores.
func TestReadRunsShareNothing(t *testing.T) {
	value := sharing()
	x := experiment.Extensions{Halting: []halting.Policy{value}}
	withFields := func(fields string) Sharing {
		t.Helper()
		r, err := experiment.Decode([]byte(`{"task": {"copy": {}}, "model": {"encoder_decoder": {"halting": {"go:Sharing": ` + fields + `}}}}`))
		if err == nil {
			r, err = r.Extend(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r.Policy().(Sharing)
	}
	first := `{"steps": 3, "inside": {"b": 2}, "marks": [7, 8], "names": {"b": 2}, "point": {"y": 9, "marks": [6, 7]}, "any": {"y": 8}, "pairs": [[5], [6]], "number": 66}`
	for range 2 { // the second time after other runs
		got, want := withFields(first), Sharing{
			Fixed: halting.Fixed{Steps: 3}, inner: inner{map[string]int{"b": 2}}, Marks: []int{7, 8}, Names: map[string]int{"b": 2},
			Point: &Place{X: 1, Y: 9, Marks: []int{6, 7}}, Any: &Place{Y: 8}, Pairs: [2][]int{{5}, {6}}, Number: big.NewInt(66), Kept: []int{4}, Ignored: &Place{Y: 5},
		}
		empty := withFields(`{"inside": {}, "marks": [], "names": null, "point": {"marks": null}, "any": null, "pairs": [null, []], "kept": null, "number": null}`)
		if !reflect.DeepEqual(got, want) || got.Ignored != value.Ignored {
			t.Errorf("read %+v, want %+v", got, want)
		}
		emptied := Sharing{
			Fixed: halting.Fixed{Steps: 2}, inner: inner{map[string]int{}}, Marks: []int{}, Point: &Place{X: 1, Y: 2}, Pairs: [2][]int{nil, {}}, Ignored: &Place{Y: 5},
		}
		if !reflect.DeepEqual(empty, emptied) {
			t.Errorf("read %+v, want %+v", empty, emptied)
		}
		if got := withFields(`{"point": null}`); got.Point != nil {
			t.Errorf("read %+v for null", got.Point)
		}
		if got := withFields(`{}`); !reflect.DeepEqual(got, sharing()) {
			t.Errorf("read %+v for no fields, want the value", got)
		}
		if !reflect.DeepEqual(value, sharing()) {
			t.Fatalf("reading changed the value to %+v", value)
		}
	}
	run := foreign().WithPolicy(value)
	if _, err := run.Set("model.halting.marks=[9]", `model.halting.names={"c": 3}`); err != nil || !reflect.DeepEqual(value, sharing()) {
		t.Errorf("setting fields of a copy changed the run: %+v, %v", value, err)
	}
	pointed := &Pointed{Mark: 1}
	read, err := experiment.Decode(foreign().WithPolicy(&Pointed{Mark: 2}).JSON())
	if err != nil {
		t.Fatal(err)
	}
	x = foreign().Extensions()
	x.Halting = []halting.Policy{pointed}
	if read, err = read.Extend(x); err != nil || read.Policy().(*Pointed).Mark != 2 || pointed.Mark != 1 {
		t.Errorf("%+v of %+v, %v", read.Policy(), pointed, err)
	}
}
