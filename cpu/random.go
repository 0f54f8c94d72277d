package cpu

import (
	"encoding/binary"
	"math/rand/v2"
)

// rngInstr draws random bits from the PCG generator of math/rand/v2, whose state is the first two words:
// the same bits as the portable backend.
type rngInstr struct {
	state          denseIn
	newState, bits int
	bytes          int
	boolean        bool
}

func (r *rngInstr) run(fr *frame) {
	state := execSlice[uint64](r.state.at(fr), 3)
	rng := rand.NewPCG(state[0], state[1])
	out := execSlice[byte](fr.ptrs[r.bits], r.bytes)
	for len(out) >= 8 {
		binary.LittleEndian.PutUint64(out, rng.Uint64())
		out = out[8:]
	}
	if len(out) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], rng.Uint64())
		copy(out, last[:])
	}
	if r.boolean {
		for i, b := range execSlice[byte](fr.ptrs[r.bits], r.bytes) {
			execSlice[byte](fr.ptrs[r.bits], r.bytes)[i] = b & 1
		}
	}
	saved, err := rng.MarshalBinary() // "pcg:" and two big-endian words
	if err != nil {
		panic(err)
	}
	next := execSlice[uint64](fr.ptrs[r.newState], 3)
	next[0], next[1], next[2] = binary.LittleEndian.Uint64(saved[4:]), binary.LittleEndian.Uint64(saved[12:]), state[2]
}
