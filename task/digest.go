package task

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"universal-transformer/internal/vocab"
)

// A Digester is a task that reads its data from files, or draws them with a function of its caller. Checkpoints record the digests, so that training
// does not continue on other data unnoticed. It is an interface of its own because the data of other tasks are defined by the configuration.
type Digester interface {
	Digests() Digests
}

// Digests are digests of data as they were read, by part. A part without data of its own has an empty digest.
type Digests struct{ Training, Validation, Test string }

// DigestExamples returns the digest of a list of examples.
func DigestExamples(examples []Example) string {
	d := NewDigest()
	for _, e := range examples {
		d.IDs(e.Source)
		d.IDs(e.Target)
	}
	return d.String()
}

// A Digest accumulates data. The order of the data counts, and so does how they are divided into lists and texts.
type Digest struct {
	hash   hash.Hash
	buffer *bufio.Writer
}

// NewDigest returns the digest of nothing.
func NewDigest() *Digest {
	h := sha256.New()
	return &Digest{h, bufio.NewWriter(h)}
}

// IDs adds a list of ids.
func (d *Digest) IDs(ids []vocab.ID) {
	d.Number(len(ids))
	for _, id := range ids {
		d.append(binary.LittleEndian.AppendUint32(d.buffer.AvailableBuffer(), uint32(id)))
	}
}

// Texts adds a list of texts.
func (d *Digest) Texts(texts ...string) {
	d.Number(len(texts))
	for _, t := range texts {
		d.Number(len(t))
		_, _ = d.buffer.WriteString(t) // a hash returns no error
	}
}

// Number adds a number.
func (d *Digest) Number(n int) {
	d.append(binary.LittleEndian.AppendUint64(d.buffer.AvailableBuffer(), uint64(n)))
}

func (d *Digest) append(data []byte) { _, _ = d.buffer.Write(data) }

// String returns the digest of what was added so far, in hexadecimal: SHA-256.
func (d *Digest) String() string {
	_ = d.buffer.Flush()
	return hex.EncodeToString(d.hash.Sum(nil))
}
