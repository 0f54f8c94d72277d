package babi

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names that [Babi].Rename exchanges, as in the sentences of the training files. A name may have several words.
var (
	men   = []string{"john", "daniel", "bill", "fred", "jeff", "bernhard", "brian", "julius", "greg", "sumit", "yann", "jason", "antoine"}
	women = []string{"mary", "sandra", "julie", "gertrude", "winona", "emily", "jessica", "lily"}

	people  = slices.Concat(men, women)
	places  = []string{"bathroom", "bedroom", "garden", "hallway", "kitchen", "office", "school", "park", "cinema"}
	colours = []string{"white", "green", "gray", "yellow"}
	things  = []string{
		"apple", "football", "milk", "frog", "lion", "rhino", "swan",
		"pink rectangle", "blue square", "red square", "yellow square", "red sphere", "triangle",
		"box of chocolates", "chocolate", "box", "chest", "container", "suitcase",
	}
)

// namesOf returns the lists of names that may be exchanged in the stories of a task without a change of their meaning. Directions, times,
// numbers and verbs are never exchanged.
func namesOf(task int) [][]string {
	switch task {
	case 11: // "he" and "she" tell men and women apart
		return [][]string{men, women, places}
	case 16: // colours are the colours of animals, and the answers
		return [][]string{people, things, colours}
	case 15, 20: // animals have plurals, as in "mice"; who is hungry goes to the kitchen, whatever its name
		return [][]string{people}
	}
	return [][]string{people, places, things}
}

// A renaming exchanges the names of one task.
type renaming struct{ phrases }

// draw returns a random exchange: a one-to-one mapping of each class to itself.
func (r renaming) draw(rng *rand.Rand) func(name string) string {
	to := map[string]string{}
	for _, class := range r.classes {
		for i, j := range rng.Perm(len(class)) {
			to[class[i]] = class[j]
		}
	}
	return func(name string) string {
		if other, ok := to[name]; ok {
			return other
		}
		return name
	}
}

// apply returns a question with every name replaced, in its facts, its text and its answer.
func (r renaming) apply(q Question, other func(name string) string) Question {
	facts := make([]string, len(q.Facts))
	for i, fact := range q.Facts {
		facts[i] = r.replace(fact, other)
	}
	q.Facts, q.Text, q.Answer = facts, r.replace(q.Text, other), r.answer(q.Answer, other)
	return q
}

// answer replaces the names in an answer, which may be a list, and keeps their capitals.
func (r renaming) answer(answer string, other func(name string) string) string {
	members := strings.Split(answer, ",")
	for i, member := range members {
		name := strings.ToLower(member)
		if members[i] = r.replace(name, other); name != member {
			first, size := utf8.DecodeRuneInString(members[i])
			members[i] = string(unicode.ToUpper(first)) + members[i][size:]
		}
	}
	return strings.Join(members, ",")
}

// answers returns an answer with its names replaced in every possible way.
func (r renaming) answers(answer string) []string {
	all := []string{answer}
	for i, class := range r.classes {
		var used []string // of this class, without repetitions
		r.replace(sentenceOf(answer), func(name string) string {
			if r.class[name] == i && !slices.Contains(used, name) {
				used = append(used, name)
			}
			return name
		})
		var more []string
		for _, a := range all {
			for chosen := range arrangements(class, len(used)) {
				more = append(more, r.answer(a, func(name string) string {
					if i := slices.Index(used, name); i >= 0 {
						return chosen[i]
					}
					return name
				}))
			}
		}
		all = more
	}
	return all
}

// arrangements iterates over the ordered choices of n different elements of list. The slice is overwritten by the next one.
func arrangements(list []string, n int) iter.Seq[[]string] {
	chosen := make([]string, 0, n)
	return func(yield func([]string) bool) {
		var choose func() bool
		choose = func() bool {
			if len(chosen) == n {
				return yield(chosen)
			}
			for _, element := range list {
				if slices.Contains(chosen, element) {
					continue
				}
				chosen = append(chosen, element)
				if !choose() {
					return false
				}
				chosen = chosen[:len(chosen)-1]
			}
			return true
		}
		choose()
	}
}

// synonyms lists the words of facts that mean the same. "left" is also a direction, but no other word of its list occurs in those tasks.
var synonyms = [][]string{
	{"went", "went back", "journeyed", "travelled", "moved"},
	{"got", "grabbed", "took", "picked up"},
	{"dropped", "discarded", "left", "put down"},
	{"gave", "handed", "passed"},
	{"then", "afterwards", "after that", "following that"},
}

// A rewording replaces words of facts by others that mean the same.
type rewording struct{ phrases }

// apply returns a question with each such word of its facts drawn anew.
func (r rewording) apply(q Question, rng *rand.Rand) Question {
	facts := make([]string, len(q.Facts))
	for i, fact := range q.Facts {
		facts[i] = r.replace(fact, func(word string) string {
			class := r.classes[r.class[word]]
			return class[rng.IntN(len(class))]
		})
	}
	q.Facts = facts
	return q
}
