package subword_test

import (
	"bytes"
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

// A tokenizer.json holds a vocabulary; so do the files of Hugging Face's tokenizers and of tensor2tensor.
func ExampleRead() {
	trainer := subword.Trainer{Size: 264}
	if err := trainer.Add("low lower lowest new newer newest"); err != nil {
		panic(err)
	}
	bpe, err := trainer.Train()
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := bpe.Write(&file); err != nil {
		panic(err)
	}
	tokenizer, err := subword.Read(&file)
	if err != nil {
		panic(err)
	}
	ids, err := tokenizer.Encode("überall")
	if err != nil {
		panic(err)
	}
	text, err := tokenizer.Decode(ids)
	if err != nil {
		panic(err)
	}
	fmt.Println(tokenizer.Size(), len(ids), text) // ü is two bytes
	// Output: 264 8 überall
}
