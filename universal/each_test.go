package universal_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/halting"
	"universal-transformer/internal/modeltest"
	"universal-transformer/universal"
)

// Since the readout is linear, the mean of the logits of all real positions is the logits of the mean state, and those of the last real
// position are the logits of the last state, for every policy, with padding and without.
// Caught when planted: states in reverse order.
func TestEachPositionIsReadOut(t *testing.T) {
	rows := rectangle(sources, 6)
	for _, p := range modeltest.Policies(4) {
		c := small()
		c.Precision, c.Halting = dtypes.Float64, p.Policy
		if _, adaptive := p.Policy.(halting.Frozen); adaptive {
			c.TokensPerPosition = 2 // every two tokens are one position
		}
		perPosition := max(c.TokensPerPosition, 1)
		logits := func(pool universal.Pool) []float64 {
			return newMachine(t, universal.Encoder{Config: c, Pool: pool}).run(rows, targets[:1])["logits"]
		}
		each, mean, last := logits(universal.Each), logits(universal.Mean), logits(universal.Last)
		const v = 5
		for i, source := range sources {
			n := (len(source) + perPosition - 1) / perPosition
			row := each[i*6/perPosition*v:]
			sum := make([]float64, v)
			for k, x := range row[:n*v] {
				sum[k%v] += x / float64(n)
			}
			if d := distance(sum, mean[i*v:(i+1)*v]); !(d < 1e-12) {
				t.Errorf("%s, example %d: the mean of %d positions is off by %v", p.Name, i, n, d)
			}
			if d := distance(row[(n-1)*v:n*v], last[i*v:(i+1)*v]); !(d < 1e-12) {
				t.Errorf("%s, example %d: the last position is off by %v", p.Name, i, d)
			}
		}
	}
}
