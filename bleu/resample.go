package bleu

import "math/bits"

// A generator draws the numbers of numpy.random.default_rng(seed), so that resamples are those of sacreBLEU: PCG64 (O'Neill, 2014, the
// variant XSL-RR) with a state that NumPy's SeedSequence makes of the seed.
type generator struct {
	state, increment [2]uint64 // high and low half
	half             uint32    // the upper half of the last number, if hasHalf
	hasHalf          bool
}

// newGenerator returns the generator of a seed below 2^32.
func newGenerator(seed uint32) *generator {
	words := seedWords(seed)
	g := &generator{increment: [2]uint64{words[2]<<1 | words[3]>>63, words[3]<<1 | 1}}
	g.step()
	low, carry := bits.Add64(g.state[1], words[1], 0)
	high, _ := bits.Add64(g.state[0], words[0], carry)
	g.state = [2]uint64{high, low}
	g.step()
	return g
}

// seedWords is SeedSequence(seed).generate_state(4, uint64).
func seedWords(seed uint32) (words [4]uint64) {
	const multiplierA, multiplierB = 0x931e8875, 0x58f38ded
	constant := uint32(0x43b0d7e5)
	hash := func(v uint32) uint32 {
		v ^= constant
		constant *= multiplierA
		v *= constant
		return v ^ v>>16
	}
	var pool [4]uint32
	for i := range pool {
		if i == 0 {
			pool[i] = hash(seed)
		} else {
			pool[i] = hash(0)
		}
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				mixed := 0xca01f9dd*pool[to] - 0x4973f715*hash(pool[from])
				pool[to] = mixed ^ mixed>>16
			}
		}
	}
	constant = 0x8b51f9dd
	for i := range 8 {
		v := pool[i%4] ^ constant
		constant *= multiplierB
		v *= constant
		v ^= v >> 16
		words[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return words
}

// step advances the linear congruential state.
func (g *generator) step() {
	const high, low = 0x2360ed051fc65da4, 0x4385df649fccf645
	carry, product := bits.Mul64(g.state[1], low)
	carry += g.state[0]*low + g.state[1]*high
	var c uint64
	product, c = bits.Add64(product, g.increment[1], 0)
	carry, _ = bits.Add64(carry, g.increment[0], c)
	g.state = [2]uint64{carry, product}
}

// next32 returns 32 random bits: the lower half of a number of 64, and then its upper half.
func (g *generator) next32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	g.step()
	x := bits.RotateLeft64(g.state[0]^g.state[1], -int(g.state[0]>>58))
	g.half, g.hasHalf = uint32(x>>32), true
	return uint32(x)
}

// below returns a number from 0 to n-1, by Lemire's method. n must be positive.
func (g *generator) below(n uint32) int {
	if n == 1 {
		return 0
	}
	product := uint64(g.next32()) * uint64(n)
	if uint32(product) < n {
		for threshold := -n % n; uint32(product) < threshold; {
			product = uint64(g.next32()) * uint64(n)
		}
	}
	return int(product >> 32)
}
