package report

import (
	"testing"

	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// The mean BLEU of the Universal Transformer is compared with the published figures of all sets, 41.02 and 29.88 here. By hand: 40, 41 and 42 have the
// mean 41 and the deviation 1, so t is -.02 sqrt(3) = -.035, and with two degrees of freedom p = 1 - .0346 / sqrt(.0012 + 2) = .976; 30, 30.5 and 31
// have t = .62 sqrt(3) / .5 = 2.15 and p = 1 - 2.148 / sqrt(4.613 + 2) = .165, corrected for two tests .33; 43, 43.5 and 44 have
// t = 2.48 sqrt(3) / .5 = 8.59 and p = 1 - 8.59 / sqrt(73.8 + 2) = .013, corrected .027. One seed has no test. The row says how the published model
// differs. Caught when planted: the best seed in place of the mean; one set alone; p-values of the other set; no correction; models without such seeds named.
func TestAgainstPublished(t *testing.T) {
	of := func(first, third []float64) (list []sweep.Result) {
		for i, v := range first {
			list = append(list, result(t, "translation/multi30k", uint64(i+1), 1/float64(i+1), &measure.Translation{Sets: []measure.TranslatedSet{
				translatedSet("test_2016_flickr", 1000, v), translatedSet("test_2017_mscoco", 461, third[i]),
			}}))
		}
		return list
	}
	const begin, end = "- Multi30k, lower-cased, BLEU: in the mean over seeds, Universal Transformer: 6 steps, width 192 is ", " The published figures are those of Wu et al. ("
	mscoco := []float64{30, 30.5, 31}
	render(t, of([]float64{40, 41, 42}, mscoco), begin+"below the published 41.02 of test_2016_flickr (-0.02; n = 3, t = -0.03, p = 0.98, not distinguishable), "+
		"not below the published 29.88 of test_2017_mscoco (+0.62; n = 3, t = 2.15, p = 0.33, not distinguishable). One-sample t-tests, corrected by Holm's method for 2 tests."+end)
	render(t, of([]float64{43, 43.5, 44}, mscoco), begin+"not below the published 41.02 of test_2016_flickr (+2.48; n = 3, t = 8.59, p = 0.027, distinguishable), ")
	last := of([]float64{40, 41}, mscoco)
	last[1].BestStep = last[1].Step
	last = append(last, result(t, "translation-transformer/multi30k", 1, 1, &measure.Translation{Sets: []measure.TranslatedSet{translatedSet("test_2016_flickr", 1000, 39)}}))
	for i := range last {
		last[i].TrainedBy = sweep.Provenance{CPU: "Intel, family 6, model 207", CPUSeconds: 600, Updates: 3000}
	}
	render(t, last, " The best checkpoint is the last one, so that more updates may be better, in these seeds of Multi30k, lower-cased: Universal Transformer: 6 steps, width 192 1 of 2.\n")
	render(t, of([]float64{41}, mscoco), begin+"below the published 41.02 of test_2016_flickr (-0.02), not below the published 29.88 of test_2017_mscoco (+0.12)."+end)
}
