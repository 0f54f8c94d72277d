package recipes

import (
	"fmt"

	"universal-transformer/bleu"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/subword"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// table7 returns the recipes of translation, English to German (section 3.6): on small data, and in the paper's size, which needs the data
// and an accelerator.
func table7() []Recipe {
	multi30kNeeds := []Need{{Name: "multi30k", Field: "task.path", Default: "multi30k", Usage: "the Multi30k data set, folder or archive with tok/ and raw/"}}
	columns := []column{
		{name: "multi30k", needs: multi30kNeeds, run: multi30kTokenized},
		{name: "multi30k-raw", needs: multi30kNeeds, run: func() experiment.Run { return translate(multi30k("raw/", "")) }},
		{name: "news", run: news, needs: []Need{
			{Name: "news", Field: "task.path", Default: "wmt_news", Usage: "the WMT news tests, folder or archive with newstest2014.en-de.en"},
		}},
	}
	list := cells("table 7", []model{
		{family: "translation-tiny", summary: "Transformer, the smallest published: 4 layers, width 128", only: []string{"multi30k"}, configure: tinyTransformer},
		{family: "translation-transformer", summary: "Transformer with the same number of parameters: 6 layers, width 76", configure: translationTransformer},
		{family: "translation-transformer-longer", summary: "the same, 2.3 times the updates",
			configure: func(r experiment.Run) experiment.Run { return withSteps(translationTransformer(r), 2.3) }},
		{family: "translation-weighted-transformer", summary: "Weighted Transformer: 6 layers, width 76", only: []string{"multi30k"}, configure: weightedTransformer},
		{family: "translation-small", summary: "Universal Transformer, small: 6 steps, width 96", only: []string{"multi30k"}, configure: smallTranslation},
		{family: "translation", summary: "Universal Transformer: 6 steps, width 192", configure: unchanged},
		{family: "translation-adaptive", summary: "UT with dynamic halting", only: []string{"multi30k"}, configure: adaptiveTranslation},
	}, columns)
	return append(list, Recipe{
		Name: "translation/tatoeba", Group: "table 7", Summary: "Universal Transformer, short sentences; not in the table", Run: tatoeba,
		Needs: []Need{{Name: "tatoeba", Field: "task.path", Default: "tatoeba_deu_eng", Usage: "sentences of Tatoeba, folder or archive"}},
	}, Recipe{
		Name: "translation-paper/wmt14", Group: "table 7", Summary: "Universal Transformer of the paper's base size; needs an accelerator", Run: wmt14,
		Needs: []Need{{Name: "wmt14", Field: "task.path", Default: "wmt14", Usage: "the WMT 2014 text, folder or archive with europarl-v7.de-en.en"}},
	})
}

// translationSubwords is the number of subwords of the smallest published Transformer for Multi30k, for both languages.
const translationSubwords = 10_000

// translate is a Universal Transformer of width 192 and six steps. Its embeddings are narrower, because at width 192 they would have far more
// parameters than the layers, and a wider step helps more than a wider embedding. Subwords, dropout and label smoothing are those of the
// smallest published Transformer for Multi30k.
func translate(of translation.Translation) experiment.Run {
	r := experiment.Run{
		Seed: 1, Task: experiment.Task{Value: of},
		Model: experiment.Model{Value: experiment.EncoderDecoder{Universal: experiment.Universal{
			Config: universal.Config{
				Width: 192, EmbeddingWidth: 76, Heads: 6, ScaleEmbedding: true, PreNorm: true, SharedEmbedding: true, TiedReadout: true,
				Dropout: universal.Dropout{Embedding: 0.3, Residual: 0.3},
			},
			Transition: experiment.Transition{Value: universal.FeedForward{Filter: 640}},
			Halting:    experiment.Halting{Value: sixSteps},
			Positions:  experiment.Positions{Value: universal.FromOne{}},
		}}},
		Training: experiment.Training{
			Config: updates(8000, 20, 800, 400), Schedule: cosineTo(8e-3, 2e-5, 200),
			Batch:   experiment.Batch{Tokens: 2048, Boundaries: []int{10, 14, 18, 24, 32, 48, 72, 100}},
			Decoded: 500,
		},
	}
	r.Training.Muon, r.Training.WeightDecay, r.Training.Average = 0.95, 0.1, 0.999
	r.Training.LabelSmoothing = 0.1
	r.Training.BestByMeasure = true
	r.Training.Stop = schedule.Stop{Patience: 10}
	return r
}

// multi30kTokenized is Multi30k, lower-cased and tokenized as published, and scored without further tokenization like the published figures:
// a Transformer of 2.6 million parameters has 41.02 BLEU on the test of 2016.
func multi30kTokenized() experiment.Run {
	d := multi30k("tok/", ".lc.norm.tok")
	d.BLEU = bleu.Whitespace
	return translate(d)
}

// multi30k returns one form of Multi30k. The original text is scored with sacreBLEU's defaults, which respect case.
func multi30k(folder, suffix string) translation.Translation {
	corpus := func(part string) []translation.Corpus {
		return []translation.Corpus{{Source: folder + part + suffix + ".en", Target: folder + part + suffix + ".de"}}
	}
	return translation.Translation{
		Path: "multi30k", Training: corpus("train"), Validation: corpus("val"), Test: corpus("test_2016_flickr"),
		Choice: subword.Choice{TokenizerSize: translationSubwords},
	}
}

// news is trained on WMT's news tests, except newstest2013 (validation) and newstest2014 (test). This is a small fraction of the paper's
// training data, so BLEU is not comparable with the paper's.
func news() experiment.Run {
	test := func(name string) translation.Corpus {
		return translation.Corpus{Source: name + ".en", Target: name + ".de"}
	}
	var corpora []translation.Corpus
	for _, name := range []string{"news-test2008", "newssyscomb2009", "newstest2009", "newstest2010", "newstest2011", "newstest2012"} {
		corpora = append(corpora, test(name+".en-de"))
	}
	for year := 2015; year <= 2020; year++ {
		corpora = append(corpora, test(fmt.Sprintf("newstest%d.en-de", year)))
	}
	corpora = append(corpora, test("newstest2019.de-en"), test("newstest2020.de-en"))
	r := translate(translation.Translation{
		Path: "wmt_news", Training: corpora, MaxLength: 100, Choice: subword.Choice{TokenizerSize: translationSubwords},
		Validation: []translation.Corpus{test("newstest2013.en-de")}, Test: []translation.Corpus{test("newstest2014.en-de")},
	})
	r.Training.Validation, r.Training.Decoded = 1000, 200 // news sentences are longer
	return r
}

// tatoeba is trained on a small file of short sentences; a twentieth of them is held out.
func tatoeba() experiment.Run {
	r := translate(translation.Translation{
		Path: "tatoeba_deu_eng", HeldOut: 0.05, MaxLength: 60, Choice: subword.Choice{TokenizerSize: 5000},
		Training: []translation.Corpus{{Source: "tatoeba-test-v2021-08-07.eng", Target: "tatoeba-test-v2021-08-07.deu"}},
	})
	r.Training.Steps = 3000
	return r
}

// tinyTransformer is the Transformer with the published 41.02 BLEU on Multi30k: 4 layers in encoder and decoder, width 128, dropout 0.3, Adam,
// peak learning rate 0.005 after 2,000 updates, and 8,000 updates of 4,096 tokens on each of two GPUs; here an update adds up both. The
// published model is the average of the last ten checkpoints; here, as in all translation recipes, it is a moving average of the weights.
func tinyTransformer(r experiment.Run) experiment.Run {
	r = withUniversal(withTransformer(r, 128), func(u *experiment.Universal) {
		u.EmbeddingWidth, u.Heads, u.Halting.Value = 0, 4, halting.Fixed{Steps: 4}
		u.Transition.Value = universal.FeedForward{Filter: 256}
	})
	r.Training.Accumulate, r.Training.Batch.Tokens = 2, 4096
	r.Training.Schedule = inverseSquareRoot(2.53, 2000) // 0.005 * sqrt(2000 * 128)
	r.Training.Muon, r.Training.WeightDecay, r.Training.Beta2 = 0, 0, 0.98
	return r
}

// translationTransformer has as many layers as the Universal Transformer has steps, and the width of its embeddings, so that both have about
// the same number of parameters.
func translationTransformer(r experiment.Run) experiment.Run {
	return withUniversal(withTransformer(r, 76), func(u *experiment.Universal) {
		u.EmbeddingWidth, u.Heads = 0, 4
		u.Transition.Value = universal.FeedForward{Filter: 304}
	})
}

// weightedTransformer is translationTransformer with weighted branches instead of multi-head attention and transition (Ahmed et al., 2017), and
// the norms before them as in the other models. It has a few weights more, and fewer norms. Paper: 28.4 BLEU on WMT 2014.
func weightedTransformer(r experiment.Run) experiment.Run {
	return withUniversal(translationTransformer(r), func(u *experiment.Universal) {
		u.PreNorm, u.Arrangement.Value = false, universal.Branched{PreNorm: true}
	})
}

// smallTranslation has half the width and filter, as universal_transformer_small has half of universal_transformer_base's in the authors'
// code. Paper: 26.8 BLEU on WMT 2014, 28.9 of the base size.
func smallTranslation(r experiment.Run) experiment.Run {
	return withUniversal(r, func(u *experiment.Universal) {
		u.Width, u.Heads = u.Width/2, u.Heads/2
		u.Transition.Value = universal.FeedForward{Filter: u.Transition.Value.(universal.FeedForward).Filter / 2}
	})
}

// adaptiveTranslation has dynamic halting with the same maximum number of steps, and a low weight of the ponder cost.
func adaptiveTranslation(r experiment.Run) experiment.Run {
	r = withHalting(r, adaptive(6, 1))
	r.Training.Ponder = lowPonder
	return r
}

// wmt14 is table 7 in the paper's size: the authors' universal_transformer_base on WMT 2014, with 33,708 subwords and 8 times 4,096 tokens per
// update. Paper: 28.9 BLEU. It needs the text and an accelerator. To use the authors' own subwords, set
// task.translation.tokenizer_file=vocab.translate_ende_wmt32k.32768.subwords.
func wmt14() experiment.Run {
	r := translate(translation.Translation{
		Path: "wmt14",
		Training: []translation.Corpus{
			{Source: "europarl-v7.de-en.en", Target: "europarl-v7.de-en.de"}, {Source: "commoncrawl.de-en.en", Target: "commoncrawl.de-en.de"},
			{Source: "news-commentary-v13.de-en.en", Target: "news-commentary-v13.de-en.de"},
		},
		Validation: []translation.Corpus{{Source: "newstest2013.en", Target: "newstest2013.de"}},
		Test:       []translation.Corpus{{Source: "newstest2014.en", Target: "newstest2014.de"}},
		Choice:     subword.Choice{TokenizerSize: 33_708},
	})
	r = withUniversal(r, func(u *experiment.Universal) {
		u.Width, u.EmbeddingWidth, u.Heads, u.LearnedSteps = 1024, 0, 16, true
		u.Transition.Value = universal.FeedForward{Filter: 4096}
		u.Dropout = universal.Dropout{Attention: 0.1, Transition: 0.1, Residual: 0.3}
	})
	r.Training.Config = updates(100_000, 20, 2000, 2000)
	r.Training.ClipNorm, r.Training.Accumulate, r.Training.LabelSmoothing, r.Training.BestByMeasure = 0, 8, 0.1, true
	r.Training.Schedule = inverseSquareRoot(2, 8000)
	r.Training.Batch = experiment.Batch{Tokens: 4096}
	return r
}
