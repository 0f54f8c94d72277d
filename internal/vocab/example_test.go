package vocab_test

import (
	"fmt"

	"universal-transformer/internal/vocab"
)

func Example() {
	v, err := vocab.New([]string{"a", "b"}, vocab.WithUnknown())
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens, _ := vocab.Characters.Split("bat")
	ids, unknown := v.EncodeLossy(tokens)
	fmt.Println(v.Size(), ids, unknown)
	fmt.Println(vocab.Characters.Join(v.Decode(append(ids, vocab.End, vocab.Padding))))
	_, err = v.Encode(tokens)
	fmt.Println(err)
	// Output:
	// 5 [3 2 4] 1
	// ba<unknown>
	// unknown token "t" at position 3 (counted from 1)
}
