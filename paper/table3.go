package paper

// Table3 returns LAMBADA, by language models and by reading comprehension.
func Table3() Table {
	return Table{
		Number: 3, Title: "LAMBADA: last words of passages", Section: "section 3.3",
		Preface: "Trained on books from Project Gutenberg: six novels with 870,000 tokens, and 311 novels with 27 million words where a line below says novels. The paper trains on 2,662 novels with 203 million words. " +
			"Words that occur fewer than three times in training are unknown; with the six novels, these include more than half of the target words. " +
			"The control set is **our own**: unfiltered passages of a novel that the training data lack. Our results are therefore comparable with each other, but not with the paper's. " +
			"The development set was used to select checkpoints. Nine lines of the development set also occur in the test set. Mean ± standard deviation over seeds. " +
			"Models have 6 steps or layers where the row says nothing else.",
		Seen: []string{"recorded in part. For reading comprehension, test accuracies of some trials were known (docs/log.md, 2026-11-23) while the development set chose between them. " +
			"The recipes of the columns of novels are older than their first results, and have not changed since. For the other configurations it is not recorded. The test set was evaluated once per run."},
		Rows: []Row{
			{Family: "lambada-lstm", Title: "LSTM", Unequal: []Unequal{lowerRate},
				Published: map[string][]string{"language": {"138 (0.23)", "4966 (0.0)", "5174 (0.0)"}, "reading": {"0.1103", "0.2316", "0.2007"}}},
			{Family: "lambada-transformer", Title: "Transformer",
				Published: map[string][]string{"language": {"142 (0.19)", "5122 (0.0)", "7321 (0.0)"}, "reading": {"0.4102", "0.4401", "0.3988"}}},
			{Family: "lambada", Title: "Universal Transformer", Own: true,
				Published: map[string][]string{"language": {"131 (0.32)", "279 (0.18)", "319 (0.17)"}, "reading": {"0.4801", "0.5422", "0.5216"}}},
			{Family: "lambada-adaptive", Title: "UT with dynamic halting", Adaptive: true,
				Published: map[string][]string{"language": {"130 (0.32)", "134 (0.22)", "142 (0.19)"}, "reading": {"0.4603", "0.5831", "0.5625"}}},
			{Family: "lambada-steps8", Title: "Universal Transformer, 8 steps", Columns: []string{"language"},
				Published: map[string][]string{"language": {"129 (0.32)", "192 (0.21)", "202 (0.18)"}}},
			{Family: "lambada-steps9", Title: "Universal Transformer, 9 steps", Columns: []string{"language"},
				Published: map[string][]string{"language": {"129 (0.33)", "214 (0.21)", "239 (0.17)"}}},
		},
		Columns: []Column{
			{Name: "language", Title: "language model", Note: "Perplexity and accuracy on last words, followed by the same on last words in the vocabulary. An out-of-vocabulary word counts as an error, " +
				"and as the unknown token in the perplexity, which lowers it. The paper does not say which words its perplexities cover.",
				Figures:  passages("last word perplexity", "last word accuracy", "perplexity of covered", "accuracy of covered"),
				Compared: "last word perplexity", Baselines: []Baseline{{"share of words in the vocabulary", "covered"}}},
			{Name: "reading", Title: "reading comprehension", Note: "Accuracy over all passages; answers are words of the context. Training examples are passages of the novels that end in a content word which occurs in the context " +
				"and which the last sentence does not give away; most content words are replaced by markers. Input features tell each position how often its token occurs in the context, whether it occurs in the question, " +
				"and whether it follows the same token as the blank does; the paper does not mention its features. The development set was also used to select the configuration.",
				Figures: passages("accuracy"), Compared: "accuracy", Baselines: []Baseline{
					{"upper bound: the answer occurs in the context", "ceiling"}, {"most frequent content word", "most frequent content word"},
					{"last content word", "last content word"}, {"a random content word", "random content word"},
				}},
			{Name: "annotated", Title: "reading comprehension, also trained on most of the development set", Note: "As above, but half of the training passages are taken from nine tenths of the development set, with their annotated answers; " +
				"passages that also occur in the test set are excluded. The development column is the remaining tenth, which was used to select checkpoints and the number of updates. " +
				"The paper does not do this: its models are trained on 2,662 novels of the kind that LAMBADA was taken from, ours on six that are one or two centuries older.",
				Figures: passages("accuracy"), Compared: "accuracy", Detail: true},
			{Name: "novels", Title: "language model of subwords, novels", Note: "Trained on " + novels + " in subwords, on 9 of their 41 million. The Transformer has 30 % more parameters than the other models in this column. Every word can be predicted: the probability of a last word is the product of those of its subwords. " +
				"Perplexity and accuracy on last words, alone and with a continuous cache (Grave, Joulin and Usunier, 2016) over the passage, whose two constants were chosen for each run by perplexity on the development set; 0.9 is the largest lambda that was tried.",
				Figures: withCache("last word perplexity", "last word accuracy"), Compared: "last word perplexity", On: testWithCache},
			{Name: "novels-words", Title: "language model of words, novels", Note: "The 12,000 most frequent words of " + novels + ". They are trained on 6 of the 27 million. These models are measured like the first language models; reading comprehension from a language model starts from them.",
				Figures:  withCache("last word perplexity", "last word accuracy", "perplexity of covered", "accuracy of covered"),
				Compared: "last word perplexity", On: testWithCache, Detail: true, Baselines: []Baseline{{"share of words in the vocabulary", "covered"}}},
			{Name: "novels-reading", Title: "reading comprehension, novels", Note: "As reading comprehension above, with passages made from " + novels + ".", Figures: passages("accuracy"), Compared: "accuracy"},
			{Name: "novels-pretrained", Title: "reading comprehension, novels, from a language model", Note: "The same, from the weights of the language model of words: its causal stack becomes the encoder, and its embedding that of the same words.",
				Figures: passages("accuracy"), Compared: "accuracy"},
		},
	}
}

// novels names the larger training text.
const novels = "311 novels of about 1880 to 1965 with 27 million words, none of which shares twelve words in a row with a passage of LAMBADA"

// WithCache ends the names of sets that are measured with a continuous cache.
const WithCache = " with cache"

// testWithCache are the titles of the figures by which language models are compared, alone and with a cache.
var testWithCache = []string{"test", "test" + WithCache}

// withCache returns the figures of language models, alone and with a continuous cache.
func withCache(metrics ...string) []Figure {
	list := passages(metrics...)
	for _, f := range passages(metrics...) {
		f.Title, f.Set = f.Title+WithCache, f.Set+WithCache
		list = append(list, f)
	}
	return list
}

// passages returns the figures of table 3.
func passages(metrics ...string) []Figure {
	return []Figure{{Title: "own control", Set: "control", Metrics: metrics}, {Title: "development", Set: "development", Metrics: metrics}, {Title: "test", Set: "test", Metrics: metrics}}
}
