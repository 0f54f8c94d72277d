package seed

import (
	"fmt"
	"math/bits"
)

// A Permutation is a random order of 0..n-1 that is computed element by element and not stored. It is a Feistel network over the
// smallest even number of bits that holds n; results outside 0..n-1 are permuted again ("cycle walking", Black and Rogaway, Ciphers
// with Arbitrary Finite Domains, 2002).
type Permutation struct {
	n    uint64
	half uint // number of bits of one half
	keys [rounds]uint64
}

// rounds is well above the four rounds with which a Feistel network of random functions is indistinguishable from a random
// permutation (Luby and Rackoff, 1988), because the halves have only a few bits if n is small.
const rounds = 8

// NewPermutation returns the order of 0..n-1 for (seed, name, index). It panics unless n > 0.
func NewPermutation(seed uint64, name string, index int64, n int) Permutation {
	if n <= 0 {
		panic(fmt.Sprintf("seed: permutation of %d elements", n))
	}
	p := Permutation{n: uint64(n), half: uint(max(bits.Len64(uint64(n-1))+1, 2) / 2)}
	rng := Rand(seed, name, index)
	for i := range p.keys {
		p.keys[i] = rng.Uint64()
	}
	return p
}

// At returns the i-th element, 0 <= i < n.
func (p *Permutation) At(i int) int {
	if i < 0 || uint64(i) >= p.n {
		panic(fmt.Sprintf("seed: element %d of a permutation of %d", i, p.n))
	}
	x := uint64(i)
	for {
		if x = p.once(x); x < p.n {
			return int(x)
		}
	}
}

// once permutes the numbers of 2*half bits.
func (p *Permutation) once(x uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	left, right := x>>p.half, x&mask
	for _, key := range p.keys {
		left, right = right, left^(scramble(right+key)>>32)&mask
	}
	return left<<p.half | right
}

// scramble is the output function of SplitMix64 (Steele, Lea and Flood, 2014).
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
