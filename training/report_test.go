package training

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/internal/capacity"
)

// reports are what ranks may tell.
func reports(t testing.TB) []report {
	t.Helper()
	demand, err := capacity.DemandOf([]float64{2, 9, 3, 4, 5, 2, 3, 1, 4, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	return []report{
		{},
		{interrupted: true, parameters: math.MaxUint32, data: 7, norm: 0.1, cpu: 1e-3},
		{data: 1, batches: []computed{{tally: []float32{0.1, 2, 1e-30}, demand: demand}, {tally: []float32{3}}}},
	}
}

// Reports survive the way through numbers.
// Caught when planted: a tally that is rounded; the second batch lost.
func TestReportNumbers(t *testing.T) {
	for _, want := range reports(t) {
		if got, err := reportOf(want.numbers()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
}

// named is a backend of which only the name matters.
type named struct {
	compute.Backend
	name string
}

func (n named) Name() string { return n.name }

// Ranks must compute the same bits, but on XLA only about the same loss and norm. A tally begins with the loss.
func TestSameGradients(t *testing.T) {
	of := func(sum uint32, norm, loss float32) report {
		return report{parameters: sum, norm: float64(norm), batches: []computed{{tally: []float32{loss, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}}
	}
	for _, c := range []struct {
		other    report
		cpu, xla bool
	}{
		{of(1, 2, 30), true, true}, {of(9, 2, 30), false, true}, {of(9, 2.01, 30.1), false, true}, {of(9, 2.1, 30), false, false}, {of(9, 2, 31), false, false},
		{of(9, float32(math.NaN()), 30), false, false},
	} {
		for name, want := range map[string]bool{"cpu": c.cpu, "xla": c.xla} {
			trainer := &Trainer{Backend: named{name: name}}
			if got := trainer.sameGradients(of(1, 2, 30), c.other); got != want {
				t.Errorf("%s, %+v: %v", name, c.other, got)
			}
		}
	}
}

// Whatever numbers come, they are refused, or are as many as those of the report that is read.
func FuzzReport(f *testing.F) {
	for _, r := range reports(f) {
		var data []byte
		for _, v := range r.numbers() {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(data)
		f.Add(data[:len(data)-8])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []float64
		for ; len(data) >= 8; data = data[8:] {
			list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		if r, err := reportOf(list); err == nil && len(r.numbers()) != len(list) {
			t.Errorf("%v was read as %+v", list, r)
		}
	})
}
