package exec

import (
	"encoding/binary"
	"math/rand/v2"
)

// RandomBits draws random bits from the PCG generator of math/rand/v2, whose state is the first two words:
// the same bits as the portable backend.
type RandomBits struct {
	State          Operand
	NewState, Bits int
	Bytes          int
	Boolean        bool
}

func (r *RandomBits) run(fr *frame) {
	state := slice[uint64](r.State.at(fr), 3)
	rng := rand.NewPCG(state[0], state[1])
	out := slice[byte](fr.ptrs[r.Bits], r.Bytes)
	for len(out) >= 8 {
		binary.LittleEndian.PutUint64(out, rng.Uint64())
		out = out[8:]
	}
	if len(out) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], rng.Uint64())
		copy(out, last[:])
	}
	if r.Boolean {
		for i, b := range slice[byte](fr.ptrs[r.Bits], r.Bytes) {
			slice[byte](fr.ptrs[r.Bits], r.Bytes)[i] = b & 1
		}
	}
	saved, err := rng.MarshalBinary() // "pcg:" and two big-endian words
	if err != nil {
		panic(err)
	}
	next := slice[uint64](fr.ptrs[r.NewState], 3)
	next[0], next[1], next[2] = binary.LittleEndian.Uint64(saved[4:]), binary.LittleEndian.Uint64(saved[12:]), state[2]
}
