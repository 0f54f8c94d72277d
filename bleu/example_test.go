package bleu_test

import (
	"fmt"

	"universal-transformer/bleu"
)

func ExampleConfig_Corpus() {
	hypotheses := []string{"Ein Hund rennt über die Wiese.", "Zwei Männer spielen Fußball."}
	references := [][]string{{"Ein Hund rennt über eine Wiese.", "Zwei Männer spielen Fußball."}}
	score, err := bleu.Config{}.Corpus(hypotheses, references)
	if err != nil {
		panic(err)
	}
	fmt.Println(score)
	// Output: BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 69.2 91.7/80.0/62.5/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
}

// Lines are scored as they come, and shares of them added up.
func ExampleStatistics() {
	config := bleu.Config{Tokenizer: bleu.Whitespace, Lowercase: true}
	var sum bleu.Statistics
	for _, pair := range [][2]string{{"ein hund rennt", "ein hund rennt los"}, {"zwei männer spielen fußball", "zwei Männer spielen Fußball"}} {
		sum = sum.Plus(config.Statistics(pair[0], pair[1]))
	}
	fmt.Printf("%.2f after %d lines\n", config.Score(sum).Value, sum.Lines)
	// Output: 86.69 after 2 lines
}

// chrF++ compares n-grams of characters and of words, and needs no tokenizer.
func ExampleChrF_Sentence() {
	score, err := bleu.ChrF{WordOrder: 2}.Sentence("Ein Hund rennt über die Wiese.", "Ein Hund rennt über eine Wiese.")
	if err != nil {
		panic(err)
	}
	fmt.Println(score)
	// Output: chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0 = 77.0
}
