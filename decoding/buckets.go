package decoding

// roundUp pads lengths to few values, so that few graphs are compiled: 8, 12, 16, 24, 32, 48, 64, then four to a doubling: 80, 96,
// 112, 128, 160, ... Every token attends to all of a source, padding included, so long ones are not padded by much.
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

// capacityFor is the capacity of a cache for so many tokens: 16, 32, 48, 80, 128, ..., half as much again each time, in multiples of 16;
// where graphs should be few, from 64.
func (d *Decoder) capacityFor(tokens int) int {
	capacity := 16
	if d.few {
		capacity = 64
	}
	for capacity < tokens {
		capacity = nextCapacity(capacity)
	}
	return capacity
}

// nextCapacity is the capacity after the given one.
func nextCapacity(capacity int) int { return (capacity*3/2 + 15) / 16 * 16 }

// Rows is how many rows are computed for so many rows that are needed, sources or continuations of one: 1, 2, 4, 8, 16, 24, 32, 48, 64, ...
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
