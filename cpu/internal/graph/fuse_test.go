package graph

import (
	"math/rand/v2"
	"testing"
)

// Groups that come to need each other and are merged at random reach those that a search of all edges finds, and no others.
// Caught when planted: levels that do not rise with what is read; users lost in a merge; a search that stops at equal levels too early.
func TestReachesAgreesWithASearchOfAllEdges(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := &partitioner{}
		const n = 24
		var edges [n][n]bool // by id; of merged groups, those of the one that is left
		var groups []*Group
		for range n {
			groups = append(groups, p.newGroup(&Expr{ID: len(groups)}))
		}
		var search func(from, to int, seen map[int]bool) bool
		search = func(from, to int, seen map[int]bool) bool {
			if from == to {
				return true
			}
			if seen[from] {
				return false
			}
			seen[from] = true
			for d, edge := range edges[from] {
				if edge && search(d, to, seen) {
					return true
				}
			}
			return false
		}
		reached, merged := 0, 0
		for range 200 {
			i, j := rng.IntN(len(groups)), rng.IntN(len(groups))
			a, b := groups[i], groups[j]
			want := search(a.id, b.id, map[int]bool{})
			if got := p.reaches(a, b); got != want {
				t.Fatalf("seed %d: group %d reaches %d: %v, a search says %v", seed, a.id, b.id, got, want)
			}
			if want {
				reached++
			}
			switch {
			case a == b:
			case rng.IntN(12) == 0 && p.noPathBetween(a, b):
				p.merge(a, b)
				groups = append(groups[:j], groups[j+1:]...)
				for k := range n {
					edges[a.id][k] = edges[a.id][k] || edges[b.id][k]
					edges[k][a.id] = edges[k][a.id] || edges[k][b.id]
					edges[k][b.id], edges[b.id][k] = false, false
				}
				edges[a.id][a.id] = false
				merged++
			case rng.IntN(2) == 0 && !search(b.id, a.id, map[int]bool{}):
				a.needs(b)
				edges[a.id][b.id] = true
			}
		}
		if reached < 20 || merged < 3 {
			t.Errorf("seed %d: %d pairs reached and %d merged: the case shows nothing", seed, reached, merged)
		}
	}
}
