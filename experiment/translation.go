package experiment

import (
	"fmt"

	"universal-transformer/bleu"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/subword"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Translation is a start for a person's own pairs of files, or files of pairs: fill in task.translation.training. It is the model of
// Multi30k, of 1.7 million parameters with 10,000 sub-words.
func Translation() Run {
	return translate("translation", translation.Translation{
		Training: []translation.Corpus{{Source: "train.en", Target: "train.de"}}, Choice: subword.Choice{TokenizerSize: translationSubwords}, MaxLength: 100,
	})
}

// Multi30k is English to German on Multi30k, lower-cased and tokenized as published, scored without further tokenization, which is how
// the figures that are published for it were computed: a Transformer of 2.6 million parameters has 41.02 BLEU on the test of 2016. Fill
// in task.translation.path: a folder or archive with tok/, as the authors have it.
//
// Command: ut train multi30k --set task.path=multi30k.tar.xz. It takes some hours on a thread.
func Multi30k() Run {
	const name = ".lc.norm.tok"
	r := translate("multi30k", multi30k("tok/", name))
	d := r.Task.Value.(translation.Translation)
	d.BLEU = bleu.Whitespace
	r.Task.Value = d
	return r
}

// Multi30kRaw is Multi30k as it was written, scored by sacreBLEU's 13a, with case.
func Multi30kRaw() Run { return translate("multi30k-raw", multi30k("raw/", "")) }

// Multi30kAdaptive is Multi30k with adaptive halting.
func Multi30kAdaptive() Run { return AdaptiveTranslation(Multi30k()) }

// Multi30kTiny is Multi30k with TinyTransformer.
func Multi30kTiny() Run {
	r := TinyTransformer(Multi30k())
	r.Name = "multi30k-tiny"
	return r
}

// TinyTransformer is a translating run with the Transformer that has the published 41.02 on Multi30k: 4 layers each, width 128, 10,000
// sub-words, dropout 0.3, Adam, the highest learning rate 0.005 after 2,000 updates, 8,000 updates of 4,096 tokens on each of two GPUs, which
// are added up here. They average the last ten checkpoints; here the mean of the weights is over about a thousand updates, as in all runs of
// translation.
func TinyTransformer(r Run) Run {
	r = Transformer(r)
	m := r.Model.Value.(EncoderDecoder)
	m.Width, m.EmbeddingWidth, m.Heads, m.Halting = 128, 0, 4, Halting{halting.Fixed{Steps: 4}}
	m.Transition = Transition{universal.FeedForward{Filter: 256}}
	r.Model.Value = m
	r.Training.Steps, r.Training.Accumulate, r.Training.Batch.Tokens = 8000, 2, 4096
	r.Training.Schedule = Schedule{schedule.InverseSquareRoot{Factor: 2.53, Warmup: 2000}} // 0.005 * sqrt(2000 * 128)
	r.Training.Muon, r.Training.WeightDecay, r.Training.Beta2 = 0, 0, 0.98
	return r
}

// AdaptiveTranslation is a translating run with adaptive halting of at most as many steps. Pondering costs a tenth of what the authors'
// code takes, as in Base: at their price a model that translates halted after one step.
func AdaptiveTranslation(r Run) Run {
	r = adaptive(r, halting.Frozen{ACT: halting.ACT{MaxSteps: r.Policy().Limit(0), Epsilon: 0.01, Bias: 1}})
	r.Training.Ponder = objective.PonderSchedule{Weight: 0.001}
	return r
}

func multi30k(folder, suffix string) translation.Translation {
	corpus := func(part string) []translation.Corpus {
		return []translation.Corpus{{Source: folder + part + suffix + ".en", Target: folder + part + suffix + ".de"}}
	}
	return translation.Translation{
		Path: "multi30k", Training: corpus("train"), Validation: corpus("val"), Test: corpus("test_2016_flickr"),
		Choice: subword.Choice{TokenizerSize: translationSubwords},
	}
}

// TranslateNews is English to German with little text: WMT's tests of news but for two years, with which it is validated (2013) and
// tested (2014). That is a hundredth of what the paper trains on: its BLEU is not to be held against the paper's. Fill in
// task.translation.path: a folder or archive of the files newstest*.en-de.en.
func TranslateNews() Run {
	var corpora []translation.Corpus
	news := func(name string) translation.Corpus {
		return translation.Corpus{Source: name + ".en", Target: name + ".de"}
	}
	for _, name := range []string{"news-test2008", "newssyscomb2009", "newstest2009", "newstest2010", "newstest2011", "newstest2012"} {
		corpora = append(corpora, news(name+".en-de"))
	}
	for year := 2015; year <= 2020; year++ {
		corpora = append(corpora, news(fmt.Sprintf("newstest%d.en-de", year)))
	}
	corpora = append(corpora, news("newstest2019.de-en"), news("newstest2020.de-en"))
	r := translate("translate-news", translation.Translation{
		Path: "wmt_news", Training: corpora, MaxLength: 100, Choice: subword.Choice{TokenizerSize: translationSubwords},
		Validation: []translation.Corpus{news("newstest2013.en-de")}, Test: []translation.Corpus{news("newstest2014.en-de")},
	})
	r.Training.Validation, r.Training.Decoded = 1000, 200 // lines of news are twice as long
	return r
}

// TranslateTatoeba is English to German on short sentences of Tatoeba, a small file of which a fiftieth is held out. Fill in
// task.translation.path.
func TranslateTatoeba() Run {
	r := translate("translate-tatoeba", translation.Translation{
		Path: "tatoeba_deu_eng", HeldOut: 0.05, MaxLength: 60, Choice: subword.Choice{TokenizerSize: 5000},
		Training: []translation.Corpus{{Source: "tatoeba-test-v2021-08-07.eng", Target: "tatoeba-test-v2021-08-07.deu"}},
	})
	r.Training.Steps = 3000
	return r
}

// translationSubwords is the number of sub-words of both languages of the smallest published Transformer for Multi30k.
const translationSubwords = 10_000

// translate is a Universal Transformer of 1.7 million parameters, with 10,000 sub-words: of width 192 and six steps. Its embeddings are of
// width 76, because at width 192 they would have twice as many parameters as its layers, which share theirs; a wider step is worth more to it
// than a wider embedding (LOG.md). Sub-words, dropout and label smoothing are those of the smallest published Transformer for Multi30k.
func translate(name string, of translation.Translation) Run {
	r := Base()
	r.Name = name
	r.Task = Task{of}
	r.Model = Model{EncoderDecoder{Universal{
		Config: universal.Config{
			Width: 192, EmbeddingWidth: 76, Heads: 6, ScaleEmbedding: true, PreNorm: true, SharedEmbedding: true, TiedReadout: true,
			Dropout: universal.Dropout{Embedding: 0.3, Residual: 0.3},
		},
		Transition: Transition{universal.FeedForward{Filter: 640}},
		Halting:    Halting{halting.Fixed{Steps: 6}},
		Positions:  Positions{universal.FromOne{}},
	}}}
	r.Training.Steps, r.Training.Muon, r.Training.WeightDecay, r.Training.Average = 8000, 0.95, 0.1, 0.999
	r.Training.LabelSmoothing = 0.1
	r.Training.Ponder = authorsPonder
	r.Training.Schedule = Schedule{schedule.Cosine{Peak: 8e-3, Floor: 2e-5, Warmup: 200}}
	r.Training.Batch = Batch{Tokens: 2048, Boundaries: []int{10, 14, 18, 24, 32, 48, 72, 100}}
	r.Training.Validation, r.Training.Decoded, r.Training.BestByMeasure = 0, 500, true
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 20, 800, 400
	r.Training.Stop = schedule.Stop{Patience: 10}
	return r
}

// TranslationTransformer is a translating run with a Transformer in place of its Universal Transformer: as many layers as that has
// steps, and as wide as its embeddings, so that both have as many parameters. Its name ends in "-transformer".
func TranslationTransformer(r Run) Run {
	r = Transformer(r)
	m := r.Model.Value.(EncoderDecoder)
	m.Width, m.EmbeddingWidth, m.Heads = 76, 0, 4
	m.Transition = Transition{universal.FeedForward{Filter: 304}}
	r.Model.Value = m
	return r
}

// TranslateWMT14 is the paper's table 7 in its own sizes: the authors' universal_transformer_base on WMT 2014, English to German, with
// 33,000 sub-words, 8 times 4,096 tokens an update. Paper: 28.9 BLEU. It needs the text, task.translation.path and names, and an accelerator.
// The authors' own sub-words are task.translation.tokenizer_file=vocab.translate_ende_wmt32k.32768.subwords.
func TranslateWMT14() Run {
	r := translate("translate_wmt14", translation.Translation{
		Path: "wmt14",
		Training: []translation.Corpus{
			{Source: "europarl-v7.de-en.en", Target: "europarl-v7.de-en.de"}, {Source: "commoncrawl.de-en.en", Target: "commoncrawl.de-en.de"},
			{Source: "news-commentary-v13.de-en.en", Target: "news-commentary-v13.de-en.de"},
		},
		Validation: []translation.Corpus{{Source: "newstest2013.en", Target: "newstest2013.de"}},
		Test:       []translation.Corpus{{Source: "newstest2014.en", Target: "newstest2014.de"}},
		Choice:     subword.Choice{TokenizerSize: 33_708},
	})
	m := r.Model.Value.(EncoderDecoder)
	m.Width, m.EmbeddingWidth, m.Heads, m.LearnedSteps = 1024, 0, 16, true
	m.Transition = Transition{universal.FeedForward{Filter: 4096}}
	m.Dropout = universal.Dropout{Attention: 0.1, Transition: 0.1, Residual: 0.3}
	r.Model.Value = m
	r.Training.Steps, r.Training.Accumulate, r.Training.Average, r.Training.Muon, r.Training.WeightDecay = 100_000, 8, 0, 0, 0
	r.Training.Schedule = Schedule{schedule.InverseSquareRoot{Factor: 2, Warmup: 8000}}
	r.Training.Batch = Batch{Tokens: 4096}
	r.Training.ClipNorm = 0
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = 2000, 2000
	r.Training.Stop = schedule.Stop{}
	return r
}
