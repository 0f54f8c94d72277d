// Command golden checks every case of a directory of golden vectors, in float64 and float32.
//
//	golden [-backend NAME] DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/engine"
	"universal-transformer/internal/golden"
)

func main() {
	name := flag.String("backend", engine.Default, "compute backend")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "golden: name one directory of *.safetensors cases")
		os.Exit(2)
	}
	passed, failed, err := check(*name, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// check prints one line per case and precision, and the differences.
func check(backendName, dir string) (passed, failed int, err error) {
	files, err := golden.List(dir)
	if err != nil {
		return 0, 0, err
	}
	backend, err := engine.New(backendName)
	if err != nil {
		return 0, 0, err
	}
	for _, path := range files {
		for _, precision := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			c, err := golden.Read(path)
			var differences []string
			if err == nil {
				differences, err = c.Check(backend, precision, golden.ToleranceOf(precision))
			}
			if err != nil {
				differences = append(differences, fmt.Sprintf("%s: %v", path, err))
			}
			if len(differences) == 0 {
				passed++
				fmt.Printf("ok    %s %s\n", c.Name, precision)
				continue
			}
			failed++
			fmt.Printf("FAIL  %s %s\n", path, precision)
			for _, line := range differences {
				fmt.Println("     ", line)
			}
		}
	}
	return passed, failed, nil
}
