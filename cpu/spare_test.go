package cpu

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// single returns a backend of one thread.
func single(t *testing.T) *Backend {
	t.Helper()
	b, err := New("threads=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b.(*Backend)
}

// built returns a computation of n parameters of one shape.
func built(t *testing.T, b *Backend, shape shapes.Shape, n int, result func(f compute.Function, params []compute.Value) (compute.Value, error)) compute.Executable {
	t.Helper()
	builder := b.Builder("test")
	f := builder.Main()
	var params []compute.Value
	for i := range n {
		p, err := f.Parameter(string(rune('a'+i)), shape, nil)
		if err != nil {
			t.Fatal(err)
		}
		params = append(params, p)
	}
	out, err := result(f, params)
	if err == nil {
		err = f.Return([]compute.Value{out}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// double is the computation of x + x.
func double(f compute.Function, params []compute.Value) (compute.Value, error) {
	return f.Add(params[0], params[0])
}

// doubling returns a backend and a computation of x + x for 1,000 numbers.
func doubling(t *testing.T) (*Backend, compute.Executable) {
	t.Helper()
	b := single(t)
	return b, built(t, b, shapes.Make(dtypes.Float32, 1000), 1, double)
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
	b, doubled := doubling(t)
	call := func(x compute.Buffer, donate bool) *buffer {
		t.Helper()
		out, err := doubled.Execute([]compute.Buffer{x}, []bool{donate}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].(*buffer)
	}
	spare := func(want int) {
		t.Helper()
		if n := b.spare.young.bytes + b.spare.old.bytes; n != want {
			t.Fatalf("%d bytes are spare, want %d", n, want)
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
	if _, err := doubled.Execute([]compute.Buffer{x}, nil, 0); err == nil {
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

// Memory of sizes that are no longer needed goes, and a limit that is too low for the buffers of one step grows.
func TestSpareMemoryIsBounded(t *testing.T) {
	var s spare
	step := func(buffers, size int) (missed int) { // makes and finalizes buffers
		var made []any
		for range buffers {
			flat := s.take(dtypes.Float32, size)
			if flat == nil {
				flat = make([]float32, size)
				missed++
			}
			made = append(made, flat)
		}
		for _, flat := range made {
			s.keep(dtypes.Float32, size, flat)
		}
		return missed
	}
	// 40 sizes of 20 MB a step, one after the other, as batches of a decoder have them: 800 MB in all.
	for shape := range 40 {
		for i := range 20 {
			if missed := step(20, 1<<18+shape); i > 0 && missed > 0 {
				t.Fatalf("step %d of shape %d missed %d of 20 buffers", i, shape, missed)
			}
		}
		if n := s.young.bytes + s.old.bytes; n > 2*minSpare {
			t.Fatalf("%d bytes are spare, more than twice the limit", n)
		}
	}
	// Steps of 200 MB: six times the limit, which grows.
	for i := range 20 {
		if missed := step(50, 1<<20); i >= 10 && missed > 0 {
			t.Fatalf("step %d missed %d of 50 large buffers", i, missed)
		}
	}
	// After them, steps of 20 MB again.
	for shape := range 400 {
		for range 2 {
			step(20, 1<<18+shape)
		}
	}
	if n := s.young.bytes + s.old.bytes; n > 3*minSpare {
		t.Errorf("%d bytes are still spare", n)
	}
	if s.take(dtypes.Int32, 1<<18+399) != nil {
		t.Error("memory of another type was taken")
	}
	if s.drop(); s.take(dtypes.Float32, 1<<18+399) != nil {
		t.Error("memory is left after it was dropped")
	}
}
