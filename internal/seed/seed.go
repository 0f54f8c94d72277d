// Package seed derives every random choice of a run from its one seed. A choice has a name ("copy/training",
// "batch/order", "dropout") and an index (the example, the window, the step); the same three give the same numbers on
// every machine, and different ones are independent. Nothing here has state, so going back to where a run
// stopped is a matter of knowing the index.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Rand is the random stream of (seed, name, index): PCG-DXSM (math/rand/v2) with a state of 128 bits of SHA-256.
func Rand(seed uint64, name string, index int64) *rand.Rand {
	hi, lo := mix(seed, name, index)
	return rand.New(rand.NewPCG(hi, lo))
}

// Derive is a seed made of (seed, name, index), for what wants a number instead of a stream.
func Derive(seed uint64, name string, index int64) uint64 {
	hi, _ := mix(seed, name, index)
	return hi
}

// mix hashes the three; the fixed-size numbers stand in front, so no two triples give the same bytes.
func mix(seed uint64, name string, index int64) (hi, lo uint64) {
	bytes := make([]byte, 0, 64)
	bytes = binary.LittleEndian.AppendUint64(bytes, seed)
	bytes = binary.LittleEndian.AppendUint64(bytes, uint64(index))
	sum := sha256.Sum256(append(bytes, name...))
	return binary.LittleEndian.Uint64(sum[0:]), binary.LittleEndian.Uint64(sum[8:])
}
