package pipeline

import (
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/training/schedule"
)

// rateChange returns what a changed configuration does to the learning rate after a step, if it changes by more than a tenth: both rates,
// and how a cosine that begins to decay anew can stay at its floor or warm up again. Otherwise it returns nil.
func rateChange(before, after experiment.Run, step int64) (lines []string) {
	if step == 0 || step >= after.Training.Steps {
		return nil
	}
	rate := func(r experiment.Run, step int64) float64 {
		c := r.TrainingConfig()
		return c.Schedule.Rate(step, c.Steps, c.Width)
	}
	was, next := rate(before, step), rate(after, step+1)
	if next == was || next > 0.9*was && next < 1.1*was {
		return nil
	}
	lines = []string{fmt.Sprintf("the learning rate was %.2g in update %d and is %.2g in update %d", was, step, next, step+1)}
	if c, ok := after.Training.Schedule.Value.(schedule.Cosine); ok && next > was && c.End == 0 && step > c.Start+c.Warmup && stretched(before, after) {
		lines = append(lines, fmt.Sprintf("the cosine is stretched to update %d: set training.schedule.end=%d to stay at the floor, %.2g, or training.schedule.start=%d to warm up again",
			after.Training.Steps, step, c.Floor, step))
	}
	return lines
}

// stretched reports whether a cosine only ends later than before.
func stretched(before, after experiment.Run) bool {
	was, ok := before.Training.Schedule.Value.(schedule.Cosine)
	return ok && after.Training.Schedule.Value == was && after.Training.Steps > before.Training.Steps
}

// checkStart returns an error if the warm-up of a cosine would begin after the last update, so that the rate never rises from the floor.
func checkStart(r experiment.Run) error {
	c, ok := r.Training.Schedule.Value.(schedule.Cosine)
	if !ok || c.Start < r.Training.Steps {
		return nil
	}
	return fmt.Errorf("training.schedule.start is %d, but training.steps is %d, so that the warm-up would never begin: set more updates or an earlier start", c.Start, r.Training.Steps)
}
