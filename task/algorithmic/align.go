package algorithmic

import (
	"slices"

	"universal-transformer/task"
)

// Align maps every token to the source token at the same place.
func (Copy) Align(source []string, places int) []task.Alignment {
	a := task.Alignment{Name: "its token", Source: make([]int, places)}
	for i := range a.Source {
		a.Source[i] = within(i, len(source))
	}
	return []task.Alignment{a}
}

// Align maps every token to the source token at the same place from the end, and End to the token after the source's last, if there is
// one.
func (Reverse) Align(source []string, places int) []task.Alignment {
	a := task.Alignment{Name: "its token", Source: make([]int, places)}
	for i := range a.Source {
		a.Source[i] = places - 2 - i
	}
	a.Source[places-1] = within(places-1, len(source))
	return []task.Alignment{a}
}

// Align maps every digit of a sum to the digits of both numbers with the same place value, if there are any.
func (Addition) Align(source []string, places int) []task.Alignment {
	plus, end := slices.Index(source, separator), len(source)
	for end > plus+1 && len(source[end-1]) > 1 { // the source ends with End
		end--
	}
	first := task.Alignment{Name: "the digit of the first number", Source: make([]int, places)}
	second := task.Alignment{Name: "the digit of the second number", Source: make([]int, places)}
	for i := range places {
		first.Source[i] = within(i, plus)
		second.Source[i] = within(plus+1+i, end)
	}
	return []task.Alignment{first, second}
}

// within returns place if it is below length, and -1 otherwise.
func within(place, length int) int {
	if place >= length {
		return -1
	}
	return place
}
