package capacity

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"
)

// Demands survive the way through numbers, overflows included.
// Caught when planted: the decoder's steps left out; an overflow that is lost.
func TestDemandNumbers(t *testing.T) {
	steps := [][3]int32{{15, 3, 5}, {7, 3, 4}, {0, 0, 0}}
	for _, want := range []Demand{
		nil,
		{{encoder: steps, decoder: steps[:1]}},
		{{overflow: true, encoder: steps[:2], decoder: nil}, {encoder: steps, decoder: steps[1:]}},
	} {
		got, err := DemandOf(want.Numbers())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	}
}

// Whatever numbers come, they are refused, or are those of the demand that is read.
func FuzzDemand(f *testing.F) {
	for _, list := range [][]float64{{0, 0}, {1, 2, 3, 4, 0}, {0, 1, 5, 6, 7, 0, 0}, {math.NaN()}, {1e300}, {-1}} {
		var data []byte
		for _, v := range list {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []float64
		for ; len(data) >= 8; data = data[8:] {
			list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		if d, err := DemandOf(list); err == nil && len(d.Numbers()) != len(list) {
			t.Errorf("%v was read as %+v", list, d)
		}
	})
}
