package viewer_test

import (
	"os"

	"universal-transformer/viewer"
)

func ExampleWriteText() {
	trace := &viewer.Trace{
		Task: "babi 1", Model: "adaptive (ACT, halted states copied), width 64, 4 heads, at most 4 steps",
		Source: []string{"Mary", "went", "home", ".", "Where", "is", "Mary", "?"},
		Output: []string{"home"}, Reference: []string{"home"},
		Encoder: &viewer.Stack{
			Tokens:     []string{"Mary", "went", "home", ".", "Where", "is", "Mary", "?"},
			Updates:    []float64{2, 1, 3, 1, 1, 1, 2, 1},
			Remainders: []float64{0.2, 1, 0.8, 1, 1, 1, 0.6, 1},
			Weights: [][]float64{
				{0.8, 1, 0.1, 1, 1, 1, 0.4, 1},
				{0.2, 0, 0.1, 0, 0, 0, 0.6, 0},
				{0, 0, 0.8, 0, 0, 0, 0, 0},
			},
		},
	}
	if err := viewer.WriteText(os.Stdout, trace, 80, false); err != nil {
		panic(err)
	}
	// Output:
	// babi 1
	// adaptive (ACT, halted states copied), width 64, 4 heads, at most 4 steps
	// asked     Mary went home . Where is Mary ?
	// answered  home
	// expected  home
	//           That is the right answer.
	//
	// Encoder: 8 positions, which halted after 1 to 3 steps, 1.5 on average.
	//
	//    1  Mary   █░ 2
	//    2  went   █ 1
	//    3  home   ░░█ 3
	//    4  .      █ 1
	//    5  Where  █ 1
	//    6  is     █ 1
	//    7  Mary   ▒▓ 2
	//    8  ?      █ 1
	//
	// a block is a step; its weight in the result: ░ <¼  ▒ <½  ▓ <¾  █ more
}
