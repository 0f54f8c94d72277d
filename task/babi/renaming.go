package babi

import (
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

	people = slices.Concat(men, women)
	places = []string{"bathroom", "bedroom", "garden", "hallway", "kitchen", "office", "school", "park", "cinema"}
	things = []string{
		"apple", "football", "milk", "frog", "lion", "rhino", "swan",
		"pink rectangle", "blue square", "red square", "yellow square", "red sphere", "triangle",
		"box of chocolates", "chocolate", "box", "chest", "container", "suitcase",
	}
)

// namesOf returns the lists of names that may be exchanged in the stories of a task without a change of their meaning. Directions, times,
// numbers, colours and verbs are never exchanged.
func namesOf(task int) [][]string {
	switch task {
	case 11: // "he" and "she" tell men and women apart
		return [][]string{men, women, places}
	case 15, 20: // animals have plurals, as in "mice"; who is hungry goes to the kitchen, whatever its name
		return [][]string{people}
	}
	return [][]string{people, places, things}
}

// A renaming exchanges the names of one task.
type renaming struct {
	classes  [][]string
	class    map[string]int // index in classes
	maxWords int            // of a name
}

func renamingOf(classes [][]string) renaming {
	r := renaming{classes: classes, class: map[string]int{}}
	for i, class := range classes {
		for _, name := range class {
			r.class[name] = i
			r.maxWords = max(r.maxWords, strings.Count(name, " ")+1)
		}
	}
	return r
}

// newRenaming exchanges only names that occur in the training questions of the task. So a renamed story has no word that the training
// stories do not have.
func newRenaming(task int, training []Question) renaming {
	all, used, seen := renamingOf(namesOf(task)), map[string]bool{}, map[string]bool{}
	for _, q := range training {
		for _, sentence := range append(slices.Clip(q.Facts), q.Text, sentenceOf(q.Answer)) {
			if !seen[sentence] {
				seen[sentence] = true
				all.replace(sentence, func(name string) string { used[name] = true; return name })
			}
		}
	}
	var classes [][]string
	for _, class := range all.classes {
		classes = append(classes, slices.DeleteFunc(slices.Clone(class), func(name string) bool { return !used[name] }))
	}
	return renamingOf(classes)
}

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

// sentenceOf returns the members of an answer as the words of a sentence.
func sentenceOf(answer string) string { return strings.ReplaceAll(strings.ToLower(answer), ",", " ") }

// replace replaces every name in a sentence. Of two names that begin at the same word, it takes the longer one.
func (r renaming) replace(sentence string, other func(name string) string) string {
	words := strings.Split(sentence, " ")
	replaced := make([]string, 0, len(words))
	for len(words) > 0 {
		name, n := r.name(words)
		if n == 0 {
			name, n = words[0], 1
		} else {
			name = other(name)
		}
		replaced, words = append(replaced, name), words[n:]
	}
	return strings.Join(replaced, " ")
}

// name returns the longest name that the words begin with and its number of words, 0 if there is none.
func (r renaming) name(words []string) (string, int) {
	for n := min(r.maxWords, len(words)); n > 0; n-- {
		name := words[0]
		if n > 1 {
			name = strings.Join(words[:n], " ")
		}
		if _, ok := r.class[name]; ok {
			return name, n
		}
	}
	return "", 0
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
func arrangements(list []string, n int) func(func([]string) bool) {
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

// maxLength returns an upper bound of the number of words of a sentence after any exchange.
func (r renaming) maxLength(sentence string) int {
	length := strings.Count(sentence, " ") + 1
	if r.maxWords <= 1 {
		return length
	}
	r.replace(sentence, func(name string) string {
		longest := 0
		for _, other := range r.classes[r.class[name]] {
			longest = max(longest, strings.Count(other, " "))
		}
		length += longest - strings.Count(name, " ")
		return name
	})
	return length
}
