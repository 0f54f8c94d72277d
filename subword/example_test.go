package subword_test

import (
	"fmt"
	"strings"

	"universal-transformer/subword"
)

func Example() {
	trainer := subword.Trainer{Size: 264}
	if err := trainer.Count(strings.NewReader("low lower lowest\nnew newer newest\n")); err != nil {
		fmt.Println(err)
		return
	}
	bpe, err := trainer.Train()
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, _ := bpe.Encode("the newest")
	for _, id := range ids {
		fmt.Printf("%s ", bpe.Token(id))
	}
	text, _ := bpe.Decode(ids)
	fmt.Println("=", text)
	// Output:
	// t h e Ġne we st = the newest
}
