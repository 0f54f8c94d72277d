package batch_test

import (
	"fmt"

	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

func ExamplePad() {
	b, err := batch.Pad([]task.Example{
		{Source: []vocab.ID{2, 3}, Target: []vocab.ID{3, 2, vocab.End}},
		{Source: []vocab.ID{4}, Target: []vocab.ID{4, vocab.End}},
	}, 2, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Source, b.Target)
	// Output: [2 3 4 0] [3 2 1 4 1 0]
}
