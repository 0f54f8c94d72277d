//go:build mpi || mpich

package parallel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"universal-transformer/internal/parallel"
)

// The processes of mpirun compute what Local does; scripts/ranks.sh runs this with 1 to 5 of them. All draw the same vectors.
// Caught when planted: peers that both send first (a long vector then waits for ever); the receiver's part sent.
func TestMPI(t *testing.T) {
	g, err := parallel.Join(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	n := g.Size()
	for _, length := range []int{0, 1, n - 1, n, 1009, 1_000_003} {
		rng := rand.New(rand.NewPCG(1, uint64(length)))
		list, own, total := vectors(rng, 2*n, length), g.Own(length), make([]float32, length)
		want := plain(total, list)
		for round := range 2 {
			if err := g.Fold(own, list[round*n+g.Rank()]); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Share(own, total); err != nil || !sameBits(total, want) {
			t.Errorf("rank %d of %d, %d numbers: another sum than that of a plain loop, %v", g.Rank(), n, length, err)
		}
	}
	lists, err := g.Gather(slices.Repeat([]float64{float64(g.Rank())}, g.Rank()))
	for rank, got := range lists {
		if err != nil || !reflect.DeepEqual(got, slices.Repeat([]float64{float64(rank)}, rank)) {
			t.Errorf("rank %d gathers %v, %v", g.Rank(), lists, err)
		}
	}
	data, err := g.Broadcast([]byte(fmt.Sprint("from rank ", g.Rank())))
	if err != nil || string(data) != "from rank 0" {
		t.Errorf("rank %d has %q, %v", g.Rank(), data, err)
	}
	var own error
	if g.Rank() == n-1 {
		own = errors.New("an error")
	}
	if err := g.Agree(own); err == nil || n > 1 && err.Error() != fmt.Sprintf("rank %d: an error", n-1) {
		t.Errorf("rank %d: the error agreed on is %v", g.Rank(), err)
	}
}
