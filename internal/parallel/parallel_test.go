package parallel_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"universal-transformer/internal/parallel"
)

// each runs a function on every rank of a new group, and gives what came of it. A rank whose function has returned leaves.
func each(n int, do func(g *parallel.Group) error) []error {
	errs := make([]error, n)
	var ranks sync.WaitGroup
	for i, g := range parallel.Local(n) {
		ranks.Go(func() {
			defer g.Close()
			errs[i] = do(g)
		})
	}
	ranks.Wait()
	return errs
}

// all fails if a rank has failed.
func all(t *testing.T, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
}

// vectors are numbers whose sum depends on the order it is made in: of very different sizes, some without a bound, some of no number.
func vectors(rng *rand.Rand, count, length int) [][]float32 {
	list := make([][]float32, count)
	for i := range list {
		for range length {
			list[i] = append(list[i], float32(rng.NormFloat64()*math.Pow(10, float64(rng.IntN(12)-6))))
		}
	}
	return list
}

// plain is the left fold of one process.
func plain(total []float32, list [][]float32) []float32 {
	total = slices.Clone(total)
	for _, x := range list {
		for i, v := range x {
			total[i] += v
		}
	}
	return total
}

// sameBits tells whether numbers are the same to the last bit.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// Sums over several rounds, handed out once in the end, have the bits of a plain loop over the vectors in the order of rounds and ranks.
// Caught when planted: pieces added in the order in which they come; a part that ends one number early; Share of x instead of the sum.
func TestFoldIsAPlainLoop(t *testing.T) {
	const rounds = 3
	orders := 0
	for n := 1; n <= 5; n++ {
		for _, length := range []int{0, 1, n - 1, n, n + 1, 7 * n, 1009} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(length)))
			list, first := vectors(rng, n*rounds, length), vectors(rng, 1, length)[0]
			want := plain(first, list)
			backwards := slices.Clone(list)
			slices.Reverse(backwards)
			if !sameBits(want, plain(first, backwards)) {
				orders++
			}
			all(t, each(n, func(g *parallel.Group) error {
				own, total := g.Own(length), make([]float32, length)
				if at := g.Rank() * len(own); at < length {
					copy(own, first[at:])
				}
				for round := range rounds {
					x := slices.Clone(list[round*n+g.Rank()])
					if err := g.Fold(own, x); err != nil {
						return err
					}
					if !sameBits(x, list[round*n+g.Rank()]) {
						return errors.New("Fold changes x")
					}
				}
				if err := g.Share(own, total); err != nil {
					return err
				}
				if !sameBits(total, want) {
					return fmt.Errorf("%d ranks, %d numbers: the sum is %v, not %v", n, length, total, want)
				}
				return nil
			}))
		}
	}
	if orders < 15 {
		t.Errorf("only %d of the sums depend on their order: the vectors show nothing", orders)
	}
}

// All ranks have what every rank gave, in order, whatever the lengths.
// Caught when planted: parts cut at the rank's own length; an offset of one rank.
func TestGather(t *testing.T) {
	for _, lengths := range [][]int{{3}, {0, 0}, {2, 0, 5}, {1, 1, 1, 1}} {
		want := make([][]float64, len(lengths))
		for rank, n := range lengths {
			want[rank] = []float64{}
			for i := range n {
				want[rank] = append(want[rank], float64(100*rank+i)+0.5)
			}
		}
		all(t, each(len(lengths), func(g *parallel.Group) error {
			got, err := g.Gather(want[g.Rank()])
			if err == nil && !reflect.DeepEqual(got, want) {
				err = fmt.Errorf("lengths %v: %v, want %v", lengths, got, want)
			}
			return err
		}))
	}
}

// All ranks have the data of rank 0, whatever their own.
// Caught when planted: the length of the rank's own data.
func TestBroadcast(t *testing.T) {
	for _, data := range []string{"", "a", strings.Repeat("checkpoint", 1000)} {
		for n := 1; n <= 4; n++ {
			all(t, each(n, func(g *parallel.Group) error {
				own := []byte(data)
				if g.Rank() != 0 {
					own = []byte("something else")
				}
				got, err := g.Broadcast(own)
				if err == nil && !bytes.Equal(got, []byte(data)) {
					err = fmt.Errorf("rank %d has %.20q, not %.20q", g.Rank(), got, data)
				}
				return err
			}))
		}
	}
}

// One rank's error is every rank's: the same text, that of the lowest rank, which alone can look into it; and all stay in step.
// Caught when planted: the highest rank's error; an error with no text taken for none.
func TestAgree(t *testing.T) {
	own := errors.New("no such file: Wörter.tsv")
	for _, c := range []struct {
		errs []error
		want string
	}{
		{[]error{own}, own.Error()},
		{[]error{nil, nil, nil}, ""},
		{[]error{nil, nil, own}, "rank 2: " + own.Error()},
		{[]error{own, own}, own.Error()},
		{[]error{nil, own, errors.New("another")}, "rank 1: " + own.Error()},
		{[]error{nil, errors.New("")}, "rank 1: "},
	} {
		all(t, each(len(c.errs), func(g *parallel.Group) error {
			err := g.Agree(c.errs[g.Rank()])
			if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
				return fmt.Errorf("%q, want %q", got, c.want)
			}
			lowest := slices.IndexFunc(c.errs, func(err error) bool { return err != nil })
			if mine := errors.Is(err, own); mine != (lowest == g.Rank() && c.errs[lowest] == own) {
				return fmt.Errorf("%v: rank %d can look into it: %v", err, g.Rank(), mine)
			}
			if again := g.Agree(err); !errors.Is(again, err) {
				return fmt.Errorf("agreed on before: %v, now %v", err, again)
			}
			_, err = g.Gather(nil)
			return err
		}))
	}
}

// Unequal lengths are an error on all ranks, which names one.
// Caught when planted: total and x of one rank compared only with each other.
func TestUnequalLengths(t *testing.T) {
	for name, do := range map[string]func(g *parallel.Group, n int) error{
		"x":          func(g *parallel.Group, n int) error { return g.Fold(g.Own(4), make([]float32, n)) },
		"own":        func(g *parallel.Group, n int) error { return g.Fold(make([]float32, n-2), make([]float32, 4)) },
		"both":       func(g *parallel.Group, n int) error { return g.Fold(g.Own(n), make([]float32, n)) },
		"share":      func(g *parallel.Group, n int) error { return g.Share(g.Own(n), make([]float32, n)) },
		"own shared": func(g *parallel.Group, n int) error { return g.Share(make([]float32, n-2), make([]float32, 4)) },
	} {
		for _, odd := range []int{3, 5} {
			errs := each(3, func(g *parallel.Group) error { return do(g, []int{4, 4, odd}[g.Rank()]) })
			for rank, err := range errs {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank 2 has %d numbers, rank 0 has 4", odd)) {
					t.Errorf("%s, %d: rank %d says %v", name, odd, rank, err)
				}
			}
		}
	}
}

// Whoever waits for a rank that has left is told which; what it sent before is read first.
// Caught when planted: nobody told (the test then hangs).
func TestRankThatLeaves(t *testing.T) {
	for name, do := range map[string]func(g *parallel.Group) error{
		"fold":      func(g *parallel.Group) error { return g.Fold(g.Own(9), make([]float32, 9)) },
		"gather":    func(g *parallel.Group) error { _, err := g.Gather([]float64{1}); return err },
		"agree":     func(g *parallel.Group) error { return g.Agree(nil) },
		"share":     func(g *parallel.Group) error { return g.Share(g.Own(9), make([]float32, 9)) },
		"broadcast": func(g *parallel.Group) error { _, err := g.Broadcast([]byte("x")); return err },
	} {
		errs := each(3, func(g *parallel.Group) error {
			if _, err := g.Gather([]float64{1}); err != nil {
				return fmt.Errorf("before: %w", err)
			}
			if leaver := map[bool]int{false: 2, true: 0}[name == "broadcast"]; g.Rank() == leaver {
				return nil
			}
			return do(g)
		})
		for rank, err := range errs {
			if left := map[bool]int{false: 2, true: 0}[name == "broadcast"]; rank != left && (err == nil || !strings.Contains(err.Error(), "has left")) {
				t.Errorf("%s: rank %d says %v", name, rank, err)
			}
		}
	}
}

// Ranks that are not in the same function are told so, instead of reading each other's numbers.
func TestRanksOutOfStep(t *testing.T) {
	errs := each(2, func(g *parallel.Group) error {
		if g.Rank() == 0 {
			_, err := g.Broadcast([]byte("x"))
			return err
		}
		_, err := g.Gather([]float64{1})
		return err
	})
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "not in the same function") {
		t.Errorf("%v", errs)
	}
}
