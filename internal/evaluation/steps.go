package evaluation

import (
	"math"

	"github.com/gomlx/gomlx/core/tensors"
)

// Steps summarizes the numbers of steps of positions for adaptive depth: the ponder time.
type Steps struct {
	Mean      float64      `json:"mean"`
	Deviation float64      `json:"deviation"` // standard deviation over all positions
	Tenths    [10]*float64 `json:"tenths"`    // mean of each tenth of the positions of a sequence, the first tenth first; nil if no sequence has a position there
}

// Average returns the mean, 0 if there are no steps.
func (s *Steps) Average() float64 {
	if s == nil {
		return 0
	}
	return s.Mean
}

// moments holds sums over positions.
type moments struct{ count, sum, squares float64 }

func (m moments) mean() float64 { return m.sum / m.count }

// counter collects the steps of positions.
type counter struct {
	all    moments
	tenths [10]moments
}

// add adds a batch [B, N], or the empty tensor of a stack that does not exist or is not adaptive.
func (c *counter) add(batch *tensors.Tensor) {
	if batch.Shape().Rank() != 2 {
		return
	}
	flat, n := tensors.MustCopyFlatData[int32](batch), batch.Shape().Dim(1)
	for start := 0; start < len(flat); start += n {
		steps := withoutPadding(flat[start : start+n])
		for i, of := range steps {
			for _, m := range []*moments{&c.all, &c.tenths[10*i/len(steps)]} {
				m.count, m.sum, m.squares = m.count+1, m.sum+float64(of), m.squares+float64(of*of)
			}
		}
	}
}

// steps returns the summary; nil if nothing was added.
func (c *counter) steps() *Steps {
	if c.all.count == 0 {
		return nil
	}
	mean := c.all.mean()
	s := &Steps{Mean: mean, Deviation: math.Sqrt(max(0, c.all.squares/c.all.count-mean*mean))} // sqrt(E n^2 - (E n)^2)
	for i, tenth := range c.tenths {
		if tenth.count > 0 {
			s.Tenths[i] = new(tenth.mean())
		}
	}
	return s
}

// withoutPadding removes padding, which runs no steps.
func withoutPadding(updates []int32) (steps []int) {
	for _, n := range updates {
		if n > 0 {
			steps = append(steps, int(n))
		}
	}
	return steps
}
