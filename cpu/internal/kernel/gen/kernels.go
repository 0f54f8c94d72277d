package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io"
	"strings"
)

// kernels writes the kernels of tiles and of attention, kernels_amd64.s and kernels_amd64.go.
func kernels() (map[string][]byte, error) {
	var asm, table bytes.Buffer
	beginKernels(&asm, &table)
	for _, m := range []*x86{
		{name: "Z32", wide: true, size: 4}, {name: "Z64", wide: true, size: 8}, {name: "Y32", size: 4}, {name: "Y64", size: 8},
	} {
		m.tiles()
		m.constants.write(&asm, m.table(), m.single(), 32)
		asm.Write(m.body.Bytes())
		table.WriteString(declarations(m.name, m.size, m.lanes(), m.optional()))
	}
	source, err := format.Source(table.Bytes())
	return map[string][]byte{"kernels_amd64.s": asm.Bytes(), "kernels_amd64.go": source}, err
}

// arm64 writes the same for ARM64, with the inner loops of matrix products, kernels_arm64.s and kernels_arm64.go.
func arm64() (map[string][]byte, error) {
	var asm, table bytes.Buffer
	beginKernels(&asm, &table)
	for _, m := range []*neon{{name: "V32", size: 4}, {name: "V64", size: 8}} {
		m.tiles()
		table.WriteString(declarations(m.name, m.size, m.lanes(), m.optional()))
		m.products(&table)
		m.constants.write(&asm, m.table(), m.single(), neonWidth)
		asm.Write(m.out.Bytes())
	}
	source, err := format.Source(table.Bytes())
	return map[string][]byte{"kernels_arm64.s": asm.Bytes(), "kernels_arm64.go": source}, err
}

func beginKernels(asm, table io.Writer) {
	fmt.Fprint(asm, header+"#include \"textflag.h\"\n")
	fmt.Fprint(table, header+"package kernel\n\nimport (\n\t\"unsafe\"\n\n\t\"github.com/gomlx/compute\"\n\t\"github.com/gomlx/compute/dtypes\"\n)\n")
}

// declarations writes the Go declarations of kernels, and the function that adds them to a set. optional names the kernels that not all
// instruction sets have.
func declarations(name string, size, lanes int, optional []string) string {
	element := map[int]string{4: "Float32", 8: "Float64"}[size]
	declared, table := "", fmt.Sprintf("\nfunc addKernels%s(s *Set) {\n\tdtype := dtypes.%s\n", name, element)
	add := func(kernel, target string) {
		arguments := tileArguments
		if kernel == "where" {
			arguments = whereArguments
		}
		declared += fmt.Sprintf("\n//go:noescape\nfunc %s%s%s\n", kernel, name, arguments)
		table += fmt.Sprintf("\t%s = %s%s\n", target, kernel, name)
	}
	key := func(op string) string { return "[Key{compute.OpType" + op + ", dtype}]" }
	for _, o := range binaries {
		add(o.name, "s.Elementwise"+key(o.op))
		add(o.name+"Right", "s.RowRight"+key(o.op))
		add(o.name+"Left", "s.RowLeft"+key(o.op))
	}
	for _, first := range paired {
		for _, then := range paired {
			add(first.name+"Then"+then.op, fmt.Sprintf("s.Pairs[Pair{compute.OpType%s, compute.OpType%s, dtype}]", first.op, then.op))
		}
	}
	for _, o := range unaries {
		add(o.name, "s.Elementwise"+key(o.op))
	}
	for _, fold := range []string{"Add", "Max", "Min"} {
		lower := strings.ToLower(fold)
		add(lower+"Rows", "s.Reduce"+key(fold))
		add(lower+"Columns", "s.Accumulate"+key(fold))
	}
	add("fill", fmt.Sprintf("s.Fill[%d]", size))
	if size == 4 {
		add("uint32To", "s.Convert[[2]dtypes.DType{dtypes.Uint32, dtype}]")
	}
	for _, kernel := range optional {
		switch kernel {
		case "where":
			add(kernel, fmt.Sprintf("s.Where[%d]", size))
		case "boolTo":
			add(kernel, "s.Convert[[2]dtypes.DType{dtypes.Bool, dtype}]")
		case "float32To":
			add(kernel, "s.Convert[[2]dtypes.DType{dtypes.Float32, dtype}]")
		case "comparisons":
			for _, o := range comparisons {
				add(o.name, "s.Elementwise"+key(o.op))
				add(o.name+"Integers", "s.Elementwise[Key{compute.OpType"+o.op+", dtypes.Int32}]")
			}
		}
	}
	declared += fmt.Sprintf("\n//go:noescape\nfunc dropout%s%s\n", name, tileArguments)
	for _, kernel := range []string{"softmax", "softmaxGradient", "blockSoftmax", "blockGradient"} {
		declared += fmt.Sprintf("\n//go:noescape\nfunc %s%s(c *AttentionCall)\n", kernel, name)
	}
	table += fmt.Sprintf("\ts.Attention[dtype] = &Attention{\n\t\tLanes: %d, Softmax: softmax%s, Gradient: softmaxGradient%s,\n", lanes, name, name)
	table += fmt.Sprintf("\t\tBlockLanes: %d, BlockSoftmax: blockSoftmax%s, BlockGradient: blockGradient%s, Dropout: dropout%s,\n\t}\n}\n", blockVectors*lanes, name, name, name)
	return declared + table
}
