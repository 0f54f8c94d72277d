package pipeline_test

import (
	"context"
	"fmt"

	"universal-transformer/engine"
	"universal-transformer/pipeline"
)

// A run directory is all that is needed to use a model: this one was trained to copy up to four digits.
func Example() {
	backend, err := engine.New("")
	if err != nil {
		panic(err)
	}
	trained, err := pipeline.Load("testdata/copier", backend)
	if err != nil {
		panic(err)
	}
	answers, err := trained.Decode(context.Background(), []string{"7", "31", "2026"}, pipeline.DecodeOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(trained.Describe())
	for _, a := range answers {
		fmt.Println(a.Text)
	}
	// Output:
	// Universal Transformer, adaptive (ACT, halted states copied), at most 3 steps, width 16, 2 heads
	// 7
	// 31
	// 2026
}
