package report

// claims lists the paper's statements, with its figures.
func claims() []claim {
	return []claim{
		detailed("Section 1", "structured algorithmic tasks: halting better than fixed depth", "in words", judgeAlgorithmicHalting),
		headline("Section 3.1", "bAbI: UT better than the Transformer", "0.23 against 15.2 % errors", judgeBabiModels("", "-transformer")),
		headline("Section 3.1", "bAbI: halting better than fixed depth", "0.21 against 0.23 % errors", judgeBabiModels("-adaptive", "")),
		headline("Section 3.1", "bAbI: the Transformer always overfits", "in words", judgeOverfitting),
		headline("Section 3.1", "bAbI: ponder time grows with the supporting facts", "2.3, 3.1, 3.8 steps for 1, 2, 3 facts", judgePonder),
		detailed("Section 3.1", "bAbI: ponder times are more uniform with fewer facts", "± 0.8, 1.1, 2.2 for 1, 2, 3 facts", judgeUniformity),
		detailed("Section 3.1", "bAbI: with three facts, many positions halt at step 1 or 2", "in words", judgeEarlyHalting),
		detailed("Section 3.1", "bAbI: attention sharpens from step to step, fixed depth", "in words", judgeSharpening(false)),
		detailed("Section 3.1", "bAbI: attention sharpens from step to step, dynamic halting", "in words", judgeSharpening(true)),
		headline("Section 3.2", "agreement: UT better than the Transformer", "0.992 against 0.962", onOtherData(tenth, judgeAgreementModels)),
		detailed("Section 3.2", "agreement: halting better than fixed depth", "0.907 against 0.892 at 5 attractors", onOtherData(tenth, judgeAgreementHalting)),
		detailed("Section 3.2", "agreement: the gain of halting grows with attractors", "0 at 0 to +0.027 at 5 attractors", onOtherData(tenth, judgeGrowth)),
		headline("Section 3.3", "LAMBADA: UT better than Transformer and LSTM, language model", "perplexity 319 against 7321 and 5174", onOtherData(novels, judgePerplexities)),
		detailed("Section 3.3", "LAMBADA: UT better than Transformer and LSTM, reading", "0.52 against 0.40 and 0.20", onOtherData(novels, judgeReading)),
		detailed("Section 3.3", "LAMBADA: halting better than fixed depth, reading", "0.5625 against 0.5216", onOtherData(novels, judgeReadingHalting)),
		detailed("Section 3.3", "LAMBADA: perplexity falls from 6 to 9 to 8 steps to halting", "319, 239, 202, 142", onOtherData(novels, judgeOrder)),
		detailed("Section 3.3", "LAMBADA: positions differ in depth", "8.2 ± 2.1 steps", onOtherData(novels, judgeDepth)),
		detailed("Section 3.4", "length 400: UT better than Transformer and LSTM, all three tasks", "0.35, 0.46, 0.02 against at most 0.09, 0.11, 0.0",
			judgeAlgorithmic("algorithmic-paper", "algorithmic-transformer", "algorithmic-lstm")),
		detailed("Section 3.4", "the Neural GPU is perfect at length 400", "1.0, 1.0, 1.0", judgeNeuralGPU),
		headline("Section 3.5", "learning to execute: UT better than Transformer and LSTM, equal updates", "six of six, or equal", judgeExecute("-transformer", "-lstm")),
		headline("Section 3.6", "translation: UT better than the Transformer, equal updates", "28.9 against 28.0 BLEU", onOtherData(captions, judgeTranslation("translation-transformer"))),
		detailed("Section 3.6", "translation: UT better than the Weighted Transformer, equal updates", "28.9 against 28.4 BLEU", onOtherData(captions, judgeTranslation("translation-weighted-transformer"))),
		detailed("Section 3.6", "translation: halting hurts", "in words", onOtherData(captions, judgeTranslationHalting)),
		detailed("Sections 2 and 4", "a UT of fixed depth is a Transformer whose layers share their weights, and with one step a Transformer", "in words",
			shown("the same states and logits within 1e-12 as three layers in plain loops, with one set of weights for all, or as the Transformer with a set for each; in one step, where the learned vector of the step is zero, as the Transformer of one layer: universal/tied_test.go, universal/untied_test.go")),
		headline("Section 4", "a UT can compute what a Neural GPU computes", "in words",
			shown("with attention replaced by identity, and without coordinates, residual and norm; the transition is the Neural GPU's gated convolution; the same states and logits within 1e-12 with the same weights, at every length from 1 to 12: baseline/neuralgpu/reduction_test.go")),
		headline("Section 4", "the UT is computationally universal", "in words",
			shown("with weights set by hand for a machine, a convolution and attention that adds nothing, it simulates any Turing machine with one tape for as many steps as the padded tape has cells: random machines, palindromes, parity of up to 512 bits: universal/universality_test.go, universal/turing_test.go; of fixed depth, models with hard attention do not compute parity at all lengths (Hahn, TACL 2020), but two layers with soft attention do (Chiang and Cholak, ACL 2022)")),
	}
}

// furtherClaims lists comparisons that the paper does not make.
func furtherClaims() []claim {
	return []claim{
		headline("Section 3.4", "length 400, our positions: UT better than models trained alike, equal updates", "-",
			judgeAlgorithmic("algorithmic", "algorithmic-alike-transformer", "algorithmic-alike-transformer-narrow", "algorithmic-alike-one-step", "algorithmic-alike-lstm")),
		detailed("Section 3.4", "length 400, our positions: UT better, baselines with more updates for equal time", "-",
			judgeAlgorithmic("algorithmic", "algorithmic-alike-transformer-narrow-longer", "algorithmic-alike-one-step-longer", "algorithmic-alike-lstm-longer")),
		detailed("Section 3.4", "length 400: UT better, models trained alike with our positions and Adam, equal updates", "-",
			judgeAlgorithmic("algorithmic-adam", "algorithmic-adam-transformer", "algorithmic-adam-transformer-narrow", "algorithmic-adam-one-step", "algorithmic-adam-lstm")),
		detailed("Section 3.4", "length 400: UT better, with Adam, baselines with more updates for equal time", "-",
			judgeAlgorithmic("algorithmic-adam", "algorithmic-adam-one-step-longer")),
		detailed("Section 3.5", "learning to execute: UT better, baselines with more updates", "-", judgeExecute("-transformer-longer", "-lstm-longer")),
		detailed("Section 3.6", "translation: UT better, the Transformer with more updates for equal time", "-", onOtherData(captions, judgeTranslation("translation-transformer-longer"))),
	}
}

// shown is the judge of a claim about what a model can compute, which tests show rather than results.
func shown(how string) func(book) judgement {
	return func(book) judgement { return judgement{ours: "tests, finite inputs", verdict: Constructed, why: how} }
}

// What our data are where the paper's are not at hand, or too large.
const (
	tenth    = "trained on a tenth to two fifths of the rows"
	novels   = "trained on 27 million words or fewer"
	captions = "Multi30k and news in place of WMT 2014"
)

// onOtherData returns a judge for measurements on data that differ too much from the paper's: whatever they show is not comparable.
func onOtherData(data string, judge func(book) judgement) func(book) judgement {
	return func(b book) judgement {
		j := judge(b)
		if j.verdict != NotRun {
			j.verdict, j.reason, j.why = NotComparable, data, data+"; "+j.why
		}
		return j
	}
}
