// Command gen writes the generated files of package kernel: the inner loops of matrix products and the
// kernels of tiles and of attention, in assembly. `go generate ./cpu/...` runs it; a test compares the committed files with its output.
//
// Usage: gen folder
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen folder")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate returns all generated files by name.
func generate() (map[string][]byte, error) {
	files, err := gemm()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, bfloat16())
	maps.Copy(files, int8s())
	for _, write := range []func() (map[string][]byte, error){kernels, arm64} {
		others, err := write()
		if err != nil {
			return nil, err
		}
		maps.Copy(files, others)
	}
	return files, nil
}

func write(folder string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
