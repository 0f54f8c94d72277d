package main

import (
	"bytes"
	"go/format"
)

// kernels writes kernels_amd64.s and kernels_amd64.go: the kernels of tiles and of attention.
func kernels() (map[string][]byte, error) {
	var asm, table bytes.Buffer
	asm.WriteString(header + "#include \"textflag.h\"\n")
	table.WriteString(header + "package kernel\n\nimport (\n\t\"unsafe\"\n\n\t\"github.com/gomlx/compute\"\n\t\"github.com/gomlx/compute/dtypes\"\n)\n")
	for _, m := range []*x86{
		{name: "Z32", wide: true, size: 4}, {name: "Z64", wide: true, size: 8}, {name: "Y32", size: 4}, {name: "Y64", size: 8},
	} {
		m.tiles()
		m.writeTo(&asm)
		table.WriteString(m.declarations())
	}
	source, err := format.Source(table.Bytes())
	return map[string][]byte{"kernels_amd64.s": asm.Bytes(), "kernels_amd64.go": source}, err
}
