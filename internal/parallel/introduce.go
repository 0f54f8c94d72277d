package parallel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Trait is what a rank says about itself when it joins a group, such as its build. Ranks with other values would compute something else.
type Trait struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Fix   string `json:"fix"`   // what to do about ranks with another value than rank 0
	Noted bool   `json:"noted"` // other values are only noted
}

// Introduce exchanges traits between all ranks. It returns an error, the same on all ranks, if a rank lacks a trait of rank 0 or has
// another value, and notes about those that are only noted. It is the first exchange of a group, so that ranks of any two builds
// understand each other.
func (g *Group) Introduce(own []Trait) (notes []string, err error) {
	if g.Size() == 1 {
		return nil, nil
	}
	message, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	numbers := make([]float64, len(message))
	for i, b := range message {
		numbers[i] = float64(b)
	}
	lists, err := g.Gather(numbers)
	if err != nil {
		return nil, err
	}
	all := make([][]Trait, len(lists))
	for rank, list := range lists {
		message := make([]byte, len(list))
		for i, v := range list {
			message[i] = byte(v)
		}
		if err := json.Unmarshal(message, &all[rank]); err != nil {
			return nil, g.Agree(fmt.Errorf("rank %d does not introduce itself as rank 0 does (%w): start the same program on all ranks", rank, err))
		}
	}
	for _, t := range all[0] {
		switch text := t.difference(all); {
		case text != "" && t.Noted:
			notes = append(notes, text)
		case text != "":
			return nil, g.Agree(errors.New(text))
		}
	}
	return notes, nil
}

// difference says which ranks have another value of a trait of rank 0, and what to do; "" if there are none.
func (t Trait) difference(all [][]Trait) string {
	var others []string
	first := ""
	for rank, list := range all {
		value := "unknown"
		if at := slices.IndexFunc(list, func(other Trait) bool { return other.Name == t.Name }); at >= 0 {
			value = list[at].Value
		}
		if value == t.Value {
			continue
		}
		if others == nil {
			first = value
		}
		others = append(others, strconv.Itoa(rank))
	}
	if others == nil {
		return ""
	}
	text := fmt.Sprintf("rank %s: the %s differs from that of rank 0", strings.Join(others, ", "), t.Name)
	if !t.Noted {
		text += fmt.Sprintf(" (%s, not %s)", first, t.Value)
	}
	return text + ": " + t.Fix
}
