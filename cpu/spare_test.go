package cpu

import (
	"runtime"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// doubling returns a backend and a computation of x+x for 1,000 numbers.
func doubling(t *testing.T) (*Backend, compute.Executable) {
	t.Helper()
	made, err := New("threads=1")
	if err != nil {
		t.Fatal(err)
	}
	b := made.(*Backend)
	t.Cleanup(b.Finalize)
	builder := b.Builder("double")
	main := builder.Main()
	x, err := main.Parameter("x", shapes.Make(dtypes.Float32, 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := main.Add(x, x)
	if err != nil {
		t.Fatal(err)
	}
	if err := main.Return([]compute.Value{sum}, nil); err != nil {
		t.Fatal(err)
	}
	e, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return b, e
}

func filled(t *testing.T, b *Backend, value float32) *buffer {
	t.Helper()
	flat := make([]float32, 1000)
	for i := range flat {
		flat[i] = value
	}
	buf, err := b.BufferFromFlatData(0, flat, shapes.Make(dtypes.Float32, 1000))
	if err != nil {
		t.Fatal(err)
	}
	return buf.(*buffer)
}

// Memory of finalized buffers is used again, unless somebody may hold it.
func TestSpareMemory(t *testing.T) {
	b, double := doubling(t)
	call := func(x compute.Buffer, donate bool) *buffer {
		t.Helper()
		out, err := double.Execute([]compute.Buffer{x}, []bool{donate}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].(*buffer)
	}
	spare := func(want int) {
		t.Helper()
		if b.spare.bytes != want {
			t.Fatalf("%d bytes are spare, want %d", b.spare.bytes, want)
		}
	}
	x := filled(t, b, 1)
	first := call(x, false)
	memory := first.data
	first.Finalize()
	first.Finalize() // nothing more
	spare(4000)
	second := call(x, false)
	if spare(0); second.data != memory {
		t.Error("the memory of a finalized result is not used again")
	}

	flat, err := second.Data() // may be kept
	if err != nil {
		t.Fatal(err)
	}
	second.Finalize()
	spare(0)
	call(filled(t, b, 50), false)
	if got := flat.([]float32); got[0] != 2 || got[999] != 2 {
		t.Errorf("the slice of a finalized buffer has changed to %g, %g", got[0], got[999])
	}

	if seen := filled(t, b, 3); true { // the result takes the memory of a donated input, which somebody may hold
		if _, err := seen.Data(); err != nil {
			t.Fatal(err)
		}
		call(seen, true).Finalize()
		spare(0)
	}
	call(filled(t, b, 3), true).Finalize()
	spare(4000)

	x.open() // an execution that has not ended
	x.Finalize()
	spare(4000)
	release([]*buffer{x}, nil)
	spare(4000)
	if _, err := double.Execute([]compute.Buffer{x}, nil, 0); err == nil {
		t.Error("a finalized buffer was an input")
	}

	shared, zeros, err := b.NewSharedBuffer(0, shapes.Make(dtypes.Float32, 1000))
	if spare(0); err != nil || zeros.([]float32)[999] != 0 {
		t.Errorf("shared memory begins with %v, %v", zeros.([]float32)[999], err)
	}
	shared.Finalize()
	b.Finalize()
	spare(0)
}

// At most maxSpare bytes are spare for good; the others are used again too, until the garbage collector has run twice.
func TestSpareMemoryIsBounded(t *testing.T) {
	var s spare
	const size = maxSpare / 4 / 3 // elements of float32: three fit
	for range 3 {
		s.keep(dtypes.Float32, size, make([]float32, size))
	}
	if s.bytes != 3*4*size {
		t.Fatalf("%d bytes are spare, want %d", s.bytes, 3*4*size)
	}
	s.keep(dtypes.Float32, size-1, make([]float32, size-1))
	if s.bytes != 4*(size-1) || s.take(dtypes.Int32, size-1) != nil {
		t.Errorf("%d bytes are spare, want %d of the newest", s.bytes, 4*(size-1))
	}
	if flat, ok := s.take(dtypes.Float32, size).([]float32); !RaceEnabled && (!ok || len(flat) != size) { // pools forget some under the race detector
		t.Errorf("of the others %d elements are left, want %d", len(flat), size)
	}
	runtime.GC()
	runtime.GC()
	if flat := s.take(dtypes.Float32, size); flat != nil {
		t.Error("memory above the limit is kept in spite of two collections")
	}
	if flat, ok := s.take(dtypes.Float32, size-1).([]float32); !ok || len(flat) != size-1 || s.bytes != 0 {
		t.Errorf("took %d elements, %d bytes are left", len(flat), s.bytes)
	}
	s.keep(dtypes.Float32, maxSpare, make([]float32, 1))
	if flat := s.take(dtypes.Float32, maxSpare); s.bytes != 0 || !RaceEnabled && flat == nil {
		t.Errorf("of memory above the limit %d bytes are spare; it was lost: %v", s.bytes, flat == nil)
	}
	s.keep(dtypes.Float32, maxSpare, make([]float32, 1))
	if s.drop(); s.take(dtypes.Float32, maxSpare) != nil {
		t.Error("memory is left after it was dropped")
	}
}
