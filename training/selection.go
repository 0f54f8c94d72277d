package training

import "fmt"

// selection says how the best checkpoint was selected. If the most correct sequences and the lowest cross entropy were in different
// validations, it names both, because the figures of the kept checkpoint are then not the best in every respect. Empty without a validation.
func (t *Trainer) selection() string {
	s := t.state
	if s.BestStep == 0 || s.Validation.Sequences == 0 {
		return ""
	}
	share := func(correct float64) string { return fmt.Sprintf("%.4f", correct/s.Validation.Sequences) }
	kept := fmt.Sprintf("the checkpoint of update %d is kept: ", s.BestStep)
	entropy := "cross entropy"
	if t.Config.LabelSmoothing > 0 {
		entropy = "cross entropy against the smoothed targets" // not the one that validations report
	}
	correct := "correct validation sequences"
	if ofClasses(s.Validation) {
		correct = "correct validation examples"
	}
	more := s.MaxCorrect.Value > s.BestCorrect
	switch {
	case t.Config.BestByMeasure:
		return kept + "its decoded answers are the best"
	case t.Config.BestByAccuracy && s.LowestSmoothed.Step > 0 && s.LowestSmoothed.Step != s.BestStep:
		return kept + fmt.Sprintf("it has the largest share of %s, %s, and among equals the lowest %s; the %s was lowest at update %d",
			correct, share(s.BestCorrect), entropy, entropy, s.LowestSmoothed.Step)
	case t.Config.BestByAccuracy:
		return kept + fmt.Sprintf("it has the largest share of %s, %s, and among equals the lowest %s", correct, share(s.BestCorrect), entropy)
	case more:
		return kept + fmt.Sprintf("its %s is the lowest; update %d has more %s, %s against %s (training.best_by_accuracy=true keeps that one)",
			entropy, s.MaxCorrect.Step, correct, share(s.MaxCorrect.Value), share(s.BestCorrect))
	}
	return kept + "its " + entropy + " is the lowest"
}
