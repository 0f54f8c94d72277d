package training

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

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
		{interrupted: true, parameters: math.MaxUint32, data: 7},
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
