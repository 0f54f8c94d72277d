package cpu

import (
	"slices"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Many goroutines execute one executable, each with inputs of its own and with the same frozen weights, and get the bits that each gets alone.
// Caught when planted: an arena that concurrent executions share; packed weights that are read before they are complete.
func TestSharedExecutable(t *testing.T) {
	const rows, inner, columns, goroutines = 40, 70, 45, 8
	for _, config := range []string{"threads=1", "threads=3,share=32", "scalar,threads=2,products=bf16"} {
		made, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		b := made.(*Backend)
		defer b.Finalize()
		e := squares(t, b, rows, inner, columns)
		frozen := func() compute.Buffer {
			w, err := b.BufferFromFlatData(0, ramp(inner*columns, 3), shapes.Make(dtypes.Float32, inner, columns))
			if err != nil {
				t.Fatal(err)
			}
			w.(*buffer).Freeze()
			return w
		}
		w, want := frozen(), make([][]float32, goroutines)
		for i := range want {
			want[i] = run(t, e, ramp(rows*inner, 5+i), w)
		}
		w = frozen() // not packed yet
		var all sync.WaitGroup
		for i := range want {
			all.Go(func() {
				for range 20 {
					if got, err := execute(e, ramp(rows*inner, 5+i), w); err != nil || !slices.Equal(got, want[i]) {
						t.Errorf("%s: goroutine %d has other results than alone: %v", config, i, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// ramp returns n small numbers.
func ramp(n, step int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i*step%17) / 8
	}
	return list
}

// Borrow returns the buffer's own memory, which is used again once the buffer is finalized, unlike memory from Data; then it is an error.
// Caught when planted: a copy; borrowed memory that counts as memory from Data; memory of a finalized buffer.
func TestBorrow(t *testing.T) {
	made, err := New("threads=1")
	if err != nil {
		t.Fatal(err)
	}
	b := made.(*Backend)
	defer b.Finalize()
	reused := func(hold func(buf *buffer) (any, error)) bool {
		t.Helper()
		shape := shapes.Make(dtypes.Float32, 1<<16)
		created, err := b.BufferFromFlatData(0, ramp(1<<16, 3), shape)
		if err != nil {
			t.Fatal(err)
		}
		buf := created.(*buffer)
		memory := buf.data
		flat, err := hold(buf)
		if err != nil || flatPointer(flat) != memory || !slices.Equal(flat.([]float32), ramp(1<<16, 3)) {
			t.Errorf("not the memory of the buffer: %v", err)
		}
		if err := buf.Finalize(); err != nil {
			t.Fatal(err)
		}
		if _, err := hold(buf); err == nil {
			t.Error("the memory of a finalized buffer")
		}
		next, err := b.BufferFromFlatData(0, ramp(1<<16, 5), shape)
		if err != nil {
			t.Fatal(err)
		}
		return next.(*buffer).data == memory
	}
	if !reused((*buffer).Borrow) {
		t.Error("borrowed memory is not used again")
	}
	if reused((*buffer).Data) {
		t.Error("memory from Data is used again")
	}
}
