package training

import "math"

// Schedule is a learning rate for every step, counted from 1.
type Schedule func(step int64) float64

// Constant is the same rate throughout.
func Constant(rate float64) Schedule { return func(int64) float64 { return rate } }

// InverseSquareRoot is the authors' schedule: a linear warm-up, then a fall with the root of the step,
//
//	factor * min(1, s/warmup) / sqrt(max(s, warmup)) / sqrt(width)
//
// with factor 2 and warmup 8000 in their settings; s counts from 0 there, from 1 here, so that the first step learns.
func InverseSquareRoot(factor float64, warmup int64, width int) Schedule {
	w := float64(max(warmup, 1))
	return func(step int64) float64 {
		s := float64(step)
		return factor * min(1, s/w) / math.Sqrt(max(s, w)) / math.Sqrt(float64(width))
	}
}

// Cosine warms up linearly to peak, then falls along half a cosine to floor at the last step (Loshchilov and Hutter, 2017).
func Cosine(peak, floor float64, warmup, steps int64) Schedule {
	return func(step int64) float64 {
		if step <= warmup {
			return peak * float64(step) / float64(warmup)
		}
		done := min(1, float64(step-warmup)/float64(max(steps-warmup, 1)))
		return floor + (peak-floor)*(1+math.Cos(math.Pi*done))/2
	}
}
