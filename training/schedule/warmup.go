package schedule

// WarmedUp returns the update in which the warm-up ends and the learning rate is the highest.
func (i InverseSquareRoot) WarmedUp() int64 { return i.Warmup }

// WarmedUp returns the update in which the warm-up ends and the learning rate is the highest.
func (c Cosine) WarmedUp() int64 {
	if end := c.Start + c.Warmup; end >= c.Start {
		return end
	}
	return max(c.Start, c.Warmup) // the sum overflows
}
