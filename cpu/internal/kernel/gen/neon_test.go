package main

import (
	"strings"
	"testing"
)

// loopOf returns the instructions between a label and the last branch to it, in a function of an assembly file.
func loopOf(t *testing.T, asm, function, label string) []string {
	t.Helper()
	_, body, ok := strings.Cut(asm, "TEXT ·"+function+"(SB)")
	if !ok {
		t.Fatalf("no function %s", function)
	}
	body, _, _ = strings.Cut(body, "\nTEXT ")
	_, body, ok = strings.Cut(body, "\n"+label+":\n")
	if !ok {
		t.Fatalf("no label %s in %s", label, function)
	}
	var loop []string
	for line := range strings.Lines(body) {
		if loop = append(loop, strings.TrimSpace(line)); strings.HasSuffix(strings.TrimSpace(line), " "+label) {
			return loop
		}
	}
	t.Fatalf("no branch to %s in %s", label, function)
	return nil
}

// Inner loops on ARM64 have as many instructions as the work needs: for products, a multiply-add for each register of sums, a load for each
// vector of the panel and each row, which moves the row's pointer on, and three for the panel's pointer, the count and the branch; for the weights
// of attention, what the formulas need, with a copy of each coefficient, which FMLA overwrites; for element-wise operations and norms, a load for
// each operand, the operation, a store, an addition for each pointer, and two for the count and the branch.
func TestNEONLoops(t *testing.T) {
	files, err := arm64()
	if err != nil {
		t.Fatal(err)
	}
	asm := string(files["kernels_arm64.s"])
	for _, c := range []struct {
		function, label   string
		multiplyAdds, all int
	}{
		{"gemm6x4V32", "loop", 24, 24 + 4 + 6 + 3},
		{"gemm1x4V64", "loop", 4, 4 + 4 + 1 + 3},
		{"gemvV32", "loop", 16, 16 + 16 + 1 + 3},
		{"sumThenMulV32", "whole", 0, 3 + 2 + 1 + 4 + 2},
		{"sumV32", "whole", 0, 2 + 1 + 1 + 3 + 2},
		{"productRightV64", "whole", 0, 1 + 1 + 1 + 2 + 2},
		{"inverseRootV32", "whole", 0, 1 + 3 + 1 + 2 + 2}, // the operation is a root, a copy of 1 and a quotient
		{"addRowsV32", "four", 0, 4 + 4 + 1 + 2},          // sums of rows, as in norms
		{"addColumnsV32", "fourRows", 0, 4 + 4 + 1 + 2},   // and of columns, as in gradients of gains
		// load, subtract; 2 to hide what is small; 2 for n, 2 for r, 11 for the polynomial, 3 for 2^n; store, add; 3 pointers, count and branch
		{"softmaxV32", "power", 6, 2 + 2 + 2 + 2 + 11 + 3 + 2 + 5},
	} {
		loop := loopOf(t, asm, c.function, c.label)
		multiplyAdds := 0
		for _, line := range loop {
			if strings.HasPrefix(line, "VFMLA") {
				multiplyAdds++
			}
		}
		if multiplyAdds != c.multiplyAdds || len(loop) != c.all {
			t.Errorf("%s has %d multiply-adds of %d instructions, want %d of %d:\n%s", c.function, multiplyAdds, len(loop), c.multiplyAdds, c.all, strings.Join(loop, "\n"))
		}
	}
}
