package task

import (
	"crypto/sha256"
	"encoding/binary"

	"universal-transformer/internal/vocab"
)

// A Split is the part of the examples that a source belongs to.
type Split int

// The splits.
const (
	ForTraining   Split = iota // 18 of 20 sources
	ForValidation              // one of 20
	ForTest                    // one of 20
)

// SplitOf assigns a source to a split by a hash of its ids.
func SplitOf(source []vocab.ID) Split {
	data := make([]byte, 0, 4*len(source))
	for _, id := range source {
		data = binary.LittleEndian.AppendUint32(data, uint32(id))
	}
	sum := sha256.Sum256(data)
	switch binary.LittleEndian.Uint64(sum[:]) % 20 {
	case 0:
		return ForValidation
	case 1:
		return ForTest
	}
	return ForTraining
}
