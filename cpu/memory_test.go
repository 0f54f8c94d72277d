package cpu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/cpu"
)

// A graph is refused before anything is allocated for it if its results and its arena, or those and its parameters, are more than there is.
// Caught when planted: arenas, results or parameters that are not counted.
func TestRefusesGraphs(t *testing.T) {
	const mib = 1 << 20
	refused := func(free, used int) int {
		t.Helper()
		backend, err := compute.NewWithConfig("cpu:threads=1")
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Finalize()
		cpu.SetMemory(backend, free, used)
		exec := MustNewExec(backend, func(x *Node) *Node { return MatMul(MatMul(x, x), x) })
		_, err = exec.Compile(shapes.Make(dtypes.Float32, 4096, 4096))
		var short *cpu.MemoryError
		if err == nil {
			return 0
		}
		if !errors.As(err, &short) || short.Have != free+used && short.Have != free || !strings.HasSuffix(short.Error(), "GiB (a test)") {
			t.Fatalf("%d bytes free, %d used: %v", free, used, err)
		}
		return short.Need
	}
	// Each product is 64 MiB, and so is the parameter: one is in the arena, beside a packed operand, the other is the result.
	own := refused(0, 64*mib)
	if own < 128*mib || own > 256*mib {
		t.Errorf("a graph of two products of 64 MiB needs %d bytes", own)
	}
	for _, c := range []struct{ free, used, refused int }{
		{own, 64 * mib, 0}, {own - 1, 64 * mib, own}, {own + 64*mib, 0, 0}, {own + 64*mib - 1, 0, own + 64*mib},
	} {
		if got := refused(c.free, c.used); got != c.refused {
			t.Errorf("%d bytes free, %d used: %d bytes are refused, want %d", c.free, c.used, got, c.refused)
		}
	}
}

// Tensors whose number of bytes is not an int are refused where they begin. Caught when planted: sizes that are multiplied without a check.
func TestRefusesSizesThatOverflow(t *testing.T) {
	backend, err := compute.NewWithConfig("cpu:threads=1")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	huge := shapes.Make(dtypes.Float32, 1<<31, 1<<31) // 2^64 bytes
	main := backend.Builder("test").Main()
	one, err := main.Constant([]float32{1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, made := range map[string]func() error{
		"a buffer":    func() error { _, _, err := backend.NewSharedBuffer(0, huge); return err },
		"a copy":      func() error { _, err := backend.BufferFromFlatData(0, []float32{}, huge); return err },
		"a parameter": func() error { _, err := main.Parameter("x", huge, nil); return err },
		"a constant":  func() error { _, err := main.Constant([]float32{}, huge.Dimensions...); return err },
		"a broadcast": func() error {
			_, err := main.BroadcastInDim(one, shapes.Make(dtypes.Float32, 1<<15, 1<<15, 1<<15, 1<<18), []int{0})
			return err
		},
	} {
		var short *cpu.MemoryError
		if err := made(); !errors.As(err, &short) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := main.Parameter("empty", shapes.Make(dtypes.Float32, 1<<40, 0, 1<<40), nil); err != nil {
		t.Errorf("an empty tensor: %v", err)
	}
}

// Large tensors are refused too, small ones never.
func TestRefusesTensors(t *testing.T) {
	backend, err := compute.NewWithConfig("cpu:threads=1")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	cpu.SetMemory(backend, 1<<20, 0)
	large, small := make([]float32, 32<<20), make([]float32, 1<<20)
	var short *cpu.MemoryError
	if _, err := backend.BufferFromFlatData(0, large, shapes.Make(dtypes.Float32, len(large))); !errors.As(err, &short) || short.Need != 128<<20 {
		t.Errorf("a buffer of 128 MiB: %v", err)
	}
	if _, _, err := backend.NewSharedBuffer(0, shapes.Make(dtypes.Float32, 1<<20, 1<<20)); !errors.As(err, &short) || short.Need != 1<<42 {
		t.Errorf("a buffer of 4 TiB: %v", err)
	}
	if _, err := backend.Builder("test").Main().Constant(large, len(large)); !errors.As(err, &short) {
		t.Errorf("a constant of 128 MiB: %v", err)
	}
	if _, err := backend.BufferFromFlatData(0, small, shapes.Make(dtypes.Float32, len(small))); err != nil {
		t.Errorf("a buffer of 4 MiB: %v", err)
	}
}
