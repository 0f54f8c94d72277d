package decoding

import (
	"slices"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// What is decoded together fits in memory by the formula of the package comment, for as many rows as are computed; what needs more by
// itself is taken alone. Here a row has 2 T S D = 2 * 3 * 80 * 8 numbers of 4 bytes for its tokens, 80 being the room for 64, and 10
// log-probabilities of 4 + 8 bytes, 15,480 bytes, and a source 2 M D = 2 * 12 * 8 numbers and a mask of 12 bytes, 780 bytes.
// Caught when planted: an estimate without the steps, or for the sources that are asked for; the source counted once a row.
func TestFitting(t *testing.T) {
	d := &Decoder{model: universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 10, TargetVocabulary: 10, Width: 8, Heads: 2, Transition: universal.FeedForward{Filter: 16}, Halting: halting.Fixed{Steps: 3},
	}}}
	const tokens, source = 4*2*3*80*8 + 12*10, 4*2*12*8 + 12
	const row, pair = source + tokens, source + 2*tokens
	if got := d.bytes(1, 1, 9, 64); got != row { // sources are padded from 9 to 12
		t.Fatalf("a row has %v bytes, want %d", got, row)
	}
	same := slices.Repeat([]Query{{Source: make([]vocab.ID, 9), Limit: 64}}, 10)
	for _, c := range []struct {
		queries []Query
		beam    int
		memory  float64
		want    int
	}{
		{same, 1, 1, 1}, {same, 1, 2*row - 1, 1}, {same, 1, 2 * row, 2}, {same, 1, 7 * row, 4}, // 5 to 8 take 8
		{same, 1, 8 * row, 8}, {same, 1, 16 * row, 10}, {same, 2, 4*pair - 1, 2}, {same, 2, 4 * pair, 4}, {same[:1], 4, 1, 1},
		{append(same[:3:3], Query{Limit: 1000}), 1, 16 * row, 3},
	} {
		if got := d.fitting(c.queries, c.beam, c.memory); got != c.want {
			t.Errorf("%d queries, beam %d, %v bytes: %d fit, want %d", len(c.queries), c.beam, c.memory, got, c.want)
		}
	}
}
