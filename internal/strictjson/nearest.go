package strictjson

import (
	"fmt"
	"slices"
	"strings"
)

// longest is the maximum length in bytes of a compared name, far above that of any valid name.
const longest = 200

// Nearest returns the valid name that was most likely meant by name: the one with the smallest edit distance, ignoring case, if that
// is at most a third of the name's length (and at least 1); otherwise the first that is a prefix of name or begins with it. Names that
// differ in their numbers only, as table1 and table9, are not near. It returns the first of equally near ones, and false if none is near.
func Nearest(name string, valid []string) (string, bool) {
	if len(name) > longest {
		return "", false
	}
	lower := strings.ToLower(name)
	best, bestDistance := "", max(1, len([]rune(name))/3)+1
	valid = slices.DeleteFunc(slices.Clone(valid), func(v string) bool { return otherNumber(lower, strings.ToLower(v)) })
	for _, v := range valid {
		if d := distance(lower, strings.ToLower(v), bestDistance); d < bestDistance {
			best, bestDistance = v, d
		}
	}
	if best != "" {
		return best, true
	}
	for _, v := range valid {
		other := strings.ToLower(v)
		if len(lower) >= 3 && len(other) >= 3 && (strings.HasPrefix(other, lower) || strings.HasPrefix(lower, other)) {
			return v, true
		}
	}
	return "", false
}

// otherNumber reports whether two names with digits differ in nothing else.
func otherNumber(a, b string) bool {
	digits := func(r rune) bool { return '0' <= r && r <= '9' }
	without := func(s string) string {
		return strings.Map(func(r rune) rune {
			if digits(r) {
				return -1
			}
			return r
		}, s)
	}
	return strings.ContainsFunc(a, digits) && strings.ContainsFunc(b, digits) && a != b && without(a) == without(b)
}

// maxListed is the number of names up to which List has all of them; of more, it has the first shownOfMany.
const (
	maxListed   = 12
	shownOfMany = 8
)

// List joins names for a message, the first of them and the number of the others if there are many.
func List(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shownOfMany], ", "), len(names)-shownOfMany)
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string alignment,
// Damerau 1964). It may stop early and return limit if the distance is at least limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x)-len(y), len(y)-len(x)) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	before, above, row := rows[0], rows[1], rows[2]
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			replace := above[j]
			if x[i] != y[j] {
				replace++
			}
			row[j+1] = min(replace, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}
