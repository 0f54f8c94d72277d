package capacity

import "fmt"

// Demand is what a batch needed: in the run that had enough, and before it, if there was one, in the first that had not.
type Demand []needed

// needed is what both stacks needed for a batch, [steps+1] positions, rows, and longest row of each; a stack that is not adaptive has one row
// or none. Where there was an overflow it is true up to the step that had too little.
type needed struct {
	overflow         bool
	encoder, decoder [][3]int32
}

// Numbers is the demand as numbers, which DemandOf reads.
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

// DemandOf reads Numbers.
func DemandOf(numbers []float64) (d Demand, err error) {
	stack := func() (list [][3]int32) {
		if len(numbers) == 0 || !(numbers[0] >= 0 && numbers[0] <= float64(len(numbers)/3)) || len(numbers) < 1+3*int(numbers[0]) {
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
