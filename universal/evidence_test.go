package universal

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
)

// What tokens have in common, by plain loops: of drawn sources of every length, some without a separator, some with two, one empty.
// Caught when planted: counts of the whole source, a separator that is a question's word, the context as question, the token before the
// separator in place of the one before the last.
func TestEvidence(t *testing.T) {
	const length, separator = 24, 2
	rng := rand.New(rand.NewPCG(5, 6))
	sources := make([][]int32, 60)
	for b := range sources {
		sources[b] = make([]int32, length)
		n := rng.IntN(length + 1)
		for i := range n {
			sources[b][i] = []int32{1, 3, 4, 5, 6}[rng.IntN(5)]
		}
		for range min(b%4, 2) {
			if n > 0 {
				sources[b][rng.IntN(n)] = separator
			}
		}
	}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, tokens *Node) []*Node {
		times, asked, follows := evidenceOf(tokens, separator)
		return []*Node{times, asked, follows}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(sources)
	if err != nil {
		t.Fatal(err)
	}
	times, asked, follows := tensors.MustCopyFlatData[int32](out[0]), tensors.MustCopyFlatData[int32](out[1]), tensors.MustCopyFlatData[int32](out[2])
	seen := map[string]int{}
	for b, source := range sources {
		n, end := length, -1
		for i, token := range source {
			if token == separator && end < 0 {
				end = i
			}
			if token == 0 {
				n = i
				break
			}
		}
		if end < 0 {
			end = n
		}
		before := func(i int) int32 {
			if i < 1 {
				return 0
			}
			return source[i-1]
		}
		for i := range n {
			var count, in, alike int32
			for j := range n {
				if source[j] != source[i] {
					continue
				}
				if j < end {
					count = min(count+1, 7)
				} else if source[j] != separator {
					in = 1
				}
			}
			if before(i) == before(n-1) {
				alike = 1
			}
			at := b*length + i
			if times[at] != count || asked[at] != in || follows[at] != alike {
				t.Fatalf("%v at %d: %d times, %d, %d, want %d, %d, %d", source[:n], i, times[at], asked[at], follows[at], count, in, alike)
			}
			if count == 7 {
				seen["often"]++
			}
			if in == 1 && i < end {
				seen["asked"]++
			}
			if alike == 1 && i < end {
				seen["alike"]++
			}
		}
	}
	if seen["often"] < 5 || seen["asked"] < 50 || seen["alike"] < 50 {
		t.Errorf("shows little: %v", seen)
	}
}

// The graph is the same whenever it is built, so that training is the same for the same seed.
// Caught when planted: marks that are added in the order of a map.
func TestEvidenceGraphIsTheSame(t *testing.T) {
	build := func() string {
		var graph string
		e := Embedding{SourceVocabulary: 9, Width: 4, Evidence: true, Separator: 2}
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, tokens *Node) *Node {
			h := e.Source(scope, tokens)
			graph = h.Graph().String()
			return h
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		if _, err := exec.Call([][]int32{{3, 4, 2, 3, 1}}); err != nil {
			t.Fatal(err)
		}
		return graph
	}
	first := build()
	for range 20 {
		if again := build(); again != first {
			t.Fatalf("built again, the graph is another:\n%s\n%s", again, first)
		}
	}
}

// Evidence is scaled as the embedding is: by the root of the width, if at all.
func TestEvidenceIsScaled(t *testing.T) {
	tokens := [][]int32{{3, 4, 2, 3, 1}, {5, 3, 0, 0, 0}}
	source := func(scale bool) []float32 {
		store := model.NewStore()
		if err := store.SetRNGStateFromSeed(3); err != nil {
			t.Fatal(err)
		}
		e := Embedding{SourceVocabulary: 9, Width: 9, Evidence: true, Separator: 2, Scale: scale}
		exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, tokens *Node) *Node { return e.evidence(scope, tokens) })
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(tokens)
		if err != nil {
			t.Fatal(err)
		}
		return tensors.MustCopyFlatData[float32](out[0])
	}
	plain, scaled := source(false), source(true)
	for i, x := range plain {
		if math.Abs(float64(scaled[i]-3*x)) > 1e-5 {
			t.Fatalf("element %d is %v and, scaled, %v, want three times as much", i, x, scaled[i])
		}
	}
	if plain[0] == 0 {
		t.Error("evidence is zero")
	}
}
