package runlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/safetensors"
)

// A checkpoint is one safetensors file, readable by any reader of the format. Its metadata holds the SHA-256 of the whole file, in
// hexadecimal, computed with zeros in its place.
const (
	stepKey   = "step"
	sha256Key = "sha256"
)

var noDigest = strings.Repeat("0", 2*sha256.Size)

// seal encodes a checkpoint.
func seal(step int64, c *Checkpoint) ([]byte, error) {
	meta := map[string]string{
		stepKey:    strconv.FormatInt(step, 10),
		versionKey: Version(),
		sha256Key:  noDigest,
	}
	for _, key := range slices.Sorted(maps.Keys(c.Meta)) {
		if _, taken := meta[key]; taken {
			return nil, fmt.Errorf("meta key %q is reserved", key)
		}
		meta[key] = c.Meta[key]
	}
	data, err := safetensors.Encode(&safetensors.File{Metadata: meta, Tensors: c.Tensors})
	if err != nil {
		return nil, err
	}
	at, err := digestOffset(data, noDigest)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	hex.Encode(data[at:], sum[:])
	return data, nil
}

// unseal decodes a checkpoint and verifies its digest. The tensors' bytes are slices of data.
func unseal(data []byte) (*Checkpoint, error) {
	f, err := safetensors.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	digest := f.Metadata[sha256Key]
	if len(digest) != len(noDigest) {
		return nil, errors.New("no sha256 in the metadata")
	}
	at, err := digestOffset(data, digest)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(data[:at])
	h.Write([]byte(noDigest))
	h.Write(data[at+len(digest):])
	if got := hex.EncodeToString(h.Sum(nil)); got != digest {
		return nil, fmt.Errorf("the content has the sha256 %.12s, but was written with %.12s", got, digest)
	}
	step, err := strconv.ParseInt(f.Metadata[stepKey], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("step: %w", err)
	}
	for _, key := range []string{stepKey, versionKey, sha256Key} {
		delete(f.Metadata, key)
	}
	return &Checkpoint{Step: step, Meta: f.Metadata, Tensors: f.Tensors}, nil
}

// digestOffset returns the offset of the digest in the header. No other text in the header can look like it: quotes in a JSON string
// are escaped.
func digestOffset(data []byte, digest string) (int, error) {
	key := []byte(`"` + sha256Key + `":"`)
	header := data[8 : 8+binary.LittleEndian.Uint64(data)] // the slice is valid: the file was just encoded or decoded
	at := bytes.Index(header, append(key, digest+`"`...))
	if at < 0 {
		return 0, errors.New("the sha256 is not in the expected form")
	}
	return 8 + at + len(key), nil
}
