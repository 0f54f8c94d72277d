package capacity

import "fmt"

// A Demand is what a batch needed: in the run with sufficient capacity and, if there was one, in the overflowing run before it.
type Demand []needed

// needed is what both stacks needed for a batch: [steps+1] positions, rows, and longest row of each; at most one row for a stack that
// is not adaptive. After an overflow it is valid up to the step with insufficient capacity.
type needed struct {
	overflow         bool
	encoder, decoder [][3]int32
}

// Numbers encodes the demand as numbers, for DemandOf.
func (d Demand) Numbers() (list []float64) {
	for _, n := range d {
		for _, stack := range [][][3]int32{n.encoder, n.decoder} {
			list = append(list, float64(len(stack)))
			for _, step := range stack {
				list = append(list, float64(step[0]), float64(step[1]), float64(step[2]))
			}
		}
	}
	return list
}

// DemandOf decodes the result of Numbers.
func DemandOf(numbers []float64) (d Demand, err error) {
	stack := func() (list [][3]int32) {
		if len(numbers) == 0 || !(numbers[0] >= 0 && 1+3*numbers[0] <= float64(len(numbers))) {
			err = fmt.Errorf("capacity: a demand ends too early")
			return nil
		}
		n := int(numbers[0])
		for i := range n {
			list = append(list, [3]int32{int32(numbers[1+3*i]), int32(numbers[2+3*i]), int32(numbers[3+3*i])})
		}
		numbers = numbers[1+3*n:]
		return list
	}
	for len(numbers) > 0 && err == nil {
		d = append(d, needed{encoder: stack(), decoder: stack()})
	}
	for i := range max(0, len(d)-1) {
		d[i].overflow = true
	}
	return d, err
}
