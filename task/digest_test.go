package task_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A digest is the SHA-256 of numbers (8 bytes), ids (4 bytes) and texts, lists and texts with their lengths before them.
func TestDigestIsTheSumOfItsBytes(t *testing.T) {
	number := func(n byte) string { return string([]byte{n}) + strings.Repeat("\x00", 7) }
	want := number(2) + "\x05\x00\x00\x00" + "\x00\x01\x00\x00" + number(1) + number(3) + "abc" + number(7)
	sum := sha256.Sum256([]byte(want))
	d := task.NewDigest()
	d.IDs([]vocab.ID{5, 256})
	d.Texts("abc")
	d.Number(7)
	if got := d.String(); got != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest is %s, want %x", got, sum)
	}
}

// Lists of examples that differ in anything have different digests.
// Caught when planted: lists without their lengths.
func TestDigestsDiffer(t *testing.T) {
	example := func(source, target []vocab.ID) task.Example { return task.Example{Source: source, Target: target} }
	seen := map[string]int{}
	for i, list := range [][]task.Example{
		nil,
		{example(nil, nil)},
		{example([]vocab.ID{2, 3}, []vocab.ID{4, 1})},
		{example([]vocab.ID{2}, []vocab.ID{3, 4, 1})},
		{example([]vocab.ID{3, 2}, []vocab.ID{4, 1})},
		{example([]vocab.ID{2, 3}, []vocab.ID{5, 1})},
		{example([]vocab.ID{2, 3}, []vocab.ID{4, 1}), example([]vocab.ID{2}, []vocab.ID{1})},
		{example([]vocab.ID{2}, []vocab.ID{1}), example([]vocab.ID{2, 3}, []vocab.ID{4, 1})},
		{example([]vocab.ID{2}, []vocab.ID{4, 1}), example([]vocab.ID{2, 3}, []vocab.ID{1})}, // targets exchanged
	} {
		digest := task.DigestExamples(list)
		if other, equal := seen[digest]; equal {
			t.Errorf("lists %d and %d have the same digest", other, i)
		}
		if seen[digest] = i; task.DigestExamples(list) != digest {
			t.Errorf("list %d has two digests", i)
		}
	}
}
