// Package seed derives every random choice of a run from its seed. A choice has a name ("copy/training", "batch/order", "dropout")
// and an index (of the example, the window, the step). The same seed, name and index give the same numbers on every machine;
// different ones are independent. The package has no state, so resuming a run only requires the index.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Rand returns the random stream of (seed, name, index): PCG-DXSM (math/rand/v2) with a state of 128 bits of SHA-256.
func Rand(seed uint64, name string, index int64) *rand.Rand {
	hi, lo := mix(seed, name, index)
	return rand.New(rand.NewPCG(hi, lo))
}

// Derive returns a seed for (seed, name, index), for users that need a number instead of a stream.
func Derive(seed uint64, name string, index int64) uint64 {
	hi, _ := mix(seed, name, index)
	return hi
}

// mix hashes the three values. The numbers, of fixed size, come first, so different triples have different bytes.
func mix(seed uint64, name string, index int64) (hi, lo uint64) {
	bytes := make([]byte, 0, 64)
	bytes = binary.LittleEndian.AppendUint64(bytes, seed)
	bytes = binary.LittleEndian.AppendUint64(bytes, uint64(index))
	sum := sha256.Sum256(append(bytes, name...))
	return binary.LittleEndian.Uint64(sum[0:]), binary.LittleEndian.Uint64(sum[8:])
}
