package algorithmic

import (
	"slices"

	"universal-transformer/task"
)

// Align says that every token comes from the source's token at the same place.
func (Copy) Align(source []string, places int) []task.Alignment {
	a := task.Alignment{Name: "its token", Source: make([]int, places)}
	for i := range a.Source {
		a.Source[i] = within(i, len(source))
	}
	return []task.Alignment{a}
}

// Align says that every token comes from the source's token at the same place from the end; End from what follows the last token, if
// anything does.
func (Reverse) Align(source []string, places int) []task.Alignment {
	a := task.Alignment{Name: "its token", Source: make([]int, places)}
	for i := range a.Source {
		a.Source[i] = places - 2 - i
	}
	a.Source[places-1] = within(places-1, len(source))
	return []task.Alignment{a}
}

// Align says that every digit of a sum comes from the digits of both numbers that have its place value, where they have one.
func (Addition) Align(source []string, places int) []task.Alignment {
	plus, end := slices.Index(source, separator), len(source)
	for end > plus+1 && len(source[end-1]) > 1 { // End
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

// within is a place if there are so many, and -1 if not.
func within(place, length int) int {
	if place >= length {
		return -1
	}
	return place
}
