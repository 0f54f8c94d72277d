package decoding

// roundUp rounds lengths up to a few values, so that few graphs are compiled: 8, 12, 16, 24, 32, 48, 64, then four per doubling: 80, 96,
// 112, 128, 160, ... Every token attends to the whole source, including padding, so long sources get little padding.
func roundUp(length int) int {
	size, step := 8, 4
	for size < length {
		size += step
		if size&(size-1) == 0 {
			step = size / 2
			if size >= 64 {
				step = size / 4
			}
		}
	}
	return size
}

// capacityFor returns the capacity of a cache for a number of tokens: 16, 32, 48, 80, 128, ..., growing by half each time, in
// multiples of 16. It starts at 64 on backends that compile slowly.
func (d *Decoder) capacityFor(tokens int) int {
	capacity := 16
	if d.fewGraphs {
		capacity = 64
	}
	for capacity < tokens {
		capacity = nextCapacity(capacity)
	}
	return capacity
}

// nextCapacity returns the capacity after the given one.
func nextCapacity(capacity int) int { return (capacity*3/2 + 15) / 16 * 16 }

// Rows rounds a number of rows (sources, or continuations of one) up to the number that is computed: 1, 2, 4, 8, 16, 24, 32, 48, 64,
// ...
func Rows(rows int) int {
	n := 1
	for n < rows {
		n *= 2
	}
	if n > 16 && n/4*3 >= rows {
		return n / 4 * 3
	}
	return n
}
