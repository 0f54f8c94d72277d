package cpu

import (
	"errors"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A result does not take the memory of a donated input that another execution reads. Caught when planted: memory that is taken whoever reads it.
func TestDonatedWhileRead(t *testing.T) {
	b, doubled := doubling(t)
	x := filled(t, b, 7)
	flat, memory := x.flat.([]float32), x.data
	if !x.open() { // another execution begins
		t.Fatal("a new buffer is closed")
	}
	out, err := doubled.Execute([]compute.Buffer{x}, []bool{true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if result := out[0].(*buffer); result.data == memory || flat[0] != 7 || flat[999] != 7 || result.flat.([]float32)[999] != 14 {
		t.Errorf("the other execution reads %g and %g, the result is %g", flat[0], flat[999], result.flat.([]float32)[999])
	}
	release([]*buffer{x}, nil)
	if _, err := doubled.Execute([]compute.Buffer{x}, nil, 0); err == nil {
		t.Error("a donated buffer is an input again")
	}
}

// A frozen buffer that is donated is packed before it goes, and not overwritten: its packed copy may be in use.
// Caught when planted: memory that is taken although it is frozen.
func TestDonatedFrozen(t *testing.T) {
	b := single(t)
	const n = 64
	shape := shapes.Make(dtypes.Float32, n, n)
	e := built(t, b, shape, 2, func(f compute.Function, params []compute.Value) (compute.Value, error) {
		product := func(l, r compute.Value) (compute.Value, error) {
			return f.DotGeneral(l, []int{1}, nil, r, []int{0}, nil, compute.DotGeneralConfig{})
		}
		y, err := product(params[0], params[1])
		if err != nil {
			return nil, err
		}
		if y, err = f.Add(y, y); err != nil {
			return nil, err
		}
		return product(y, params[0])
	})
	one, numbers := make([]float32, n*n), make([]float32, n*n)
	for i := range numbers {
		if numbers[i] = float32(i % 97); i%(n+1) == 0 {
			one[i] = 1
		}
	}
	var in []compute.Buffer
	for _, flat := range [][]float32{one, numbers} {
		buf, err := b.BufferFromFlatData(0, flat, shape)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, buf)
	}
	frozen := in[1].(*buffer)
	frozen.Freeze()
	memory := frozen.flat.([]float32)
	out, err := e.Execute(in, []bool{false, true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range out[0].(*buffer).flat.([]float32) {
		if got != 2*numbers[i] || memory[i] != numbers[i] {
			t.Fatalf("element %d: %g, want %g; what was frozen is %g", i, got, 2*numbers[i], memory[i])
		}
	}
}

// There must be memory for results that could have taken that of an input, and the inputs of an execution that is refused stay usable.
// Caught when planted: no check; inputs that stay open.
func TestResultsNeedMemory(t *testing.T) {
	const bytes = 128 << 20
	b := single(t)
	shape := shapes.Make(dtypes.Float32, bytes/4)
	e := built(t, b, shape, 1, double)
	x, err := b.BufferFromFlatData(0, make([]float32, bytes/4), shape)
	if err != nil {
		t.Fatal(err)
	}
	SetMemory(b, bytes-1, bytes)
	var short *MemoryError
	if _, err := e.Execute([]compute.Buffer{x}, []bool{false}, 0); !errors.As(err, &short) || short.Need != bytes {
		t.Errorf("a result of %d bytes with %d available: %v", bytes, bytes-1, err)
	}
	memory := x.(*buffer).data
	if out, err := e.Execute([]compute.Buffer{x}, []bool{true}, 0); err != nil || out[0].(*buffer).data != memory {
		t.Errorf("a result that can take the memory of its input: %v", err)
	}
}

// Nothing cannot be copied. Caught when planted: the type of nil.
func TestCopiesOfNothing(t *testing.T) {
	b, _ := doubling(t)
	if _, err := b.BufferFromFlatData(0, nil, shapes.Make(dtypes.Float32, 3)); err == nil {
		t.Error("nil became a tensor")
	}
	x := filled(t, b, 1)
	x.Finalize()
	if _, err := x.CopyToDevice(0); err == nil {
		t.Error("a finalized buffer was copied")
	}
}
