package algorithmic_test

import (
	"fmt"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// Digits stand least significant first: 52 + 0 is 52, and 95 + 6 is 101.
func ExampleAddition() {
	tk, _ := algorithmic.Addition{}.Open()
	examples, err := tk.HeldOut(1, task.Selection{Length: 4, Count: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range examples {
		source := tk.Vocabularies().Tokenizer.Join(tk.Vocabularies().Source.Decode(e.Source))
		target := tk.Vocabularies().Tokenizer.Join(tk.Vocabularies().Target.Decode(e.Target))
		fmt.Println(source, "->", target)
	}
	// Output:
	// 25+0 -> 25
	// 59+6 -> 101
}
