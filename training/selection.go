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
	kept := fmt.Sprintf("the checkpoint of step %d is kept: ", s.BestStep)
	entropy := "cross entropy"
	if t.Config.LabelSmoothing > 0 {
		entropy = "cross entropy against the smoothed targets" // not the one that validations report
	}
	more := s.MaxCorrect.Value > s.BestCorrect
	switch {
	case t.Config.BestByMeasure:
		return kept + "its decoded answers are the best"
	case t.Config.BestByAccuracy && s.LowestNats.Step > 0 && s.LowestNats.Step != s.BestStep:
		return kept + fmt.Sprintf("it has the most correct validation sequences, %s; the %s was lowest at step %d", share(s.BestCorrect), entropy, s.LowestNats.Step)
	case t.Config.BestByAccuracy:
		return kept + fmt.Sprintf("it has the most correct validation sequences, %s", share(s.BestCorrect))
	case more:
		return kept + fmt.Sprintf("its %s is the lowest; step %d has more correct validation sequences, %s against %s (training.best_by_accuracy=true keeps that one)",
			entropy, s.MaxCorrect.Step, share(s.MaxCorrect.Value), share(s.BestCorrect))
	}
	return kept + "its " + entropy + " is the lowest"
}
