package decoding

import (
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
)

// logProbabilities returns the rows of a result, in its own memory if that is shared. It takes the tensor.
func (c *Cached) logProbabilities(t *tensors.Tensor) ([][]float64, error) {
	if !c.d.shared {
		return readRows(t, &c.logP)
	}
	c.lastLogP = t
	flat, err := c.d.memory(t)
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(flat.([]float64), t.Shape().Dimensions[1])), nil
}

// forgetLogP frees the last log-probabilities, which are no longer valid.
func (c *Cached) forgetLogP() {
	if c.lastLogP != nil {
		free(c.lastLogP)
		c.lastLogP = nil
	}
}

// readRows copies log-probabilities [R, V] from a tensor into a buffer, and frees the tensor.
func readRows(t *tensors.Tensor, buffer *[]float64) ([][]float64, error) {
	defer free(t)
	read := func(flat any) {
		switch values := flat.(type) {
		case []float64:
			*buffer = append((*buffer)[:0], values...)
		case []float32:
			logP := slices.Grow((*buffer)[:0], len(values))[:len(values)]
			for i, v := range values {
				logP[i] = float64(v)
			}
			*buffer = logP
		}
	}
	if err := t.ConstFlatData(read); err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(*buffer, t.Shape().Dimensions[1])), nil
}

// memory returns the memory of a tensor of a backend that shares memory; see [Decoder]. It is valid until the tensor is freed.
func (d *Decoder) memory(t *tensors.Tensor) (flat any, err error) {
	buffer, err := t.Buffer(d.backend, 0)
	if err != nil {
		return nil, err
	}
	if b, ok := buffer.(interface{ Borrow() (any, error) }); ok {
		return b.Borrow()
	}
	return buffer.Data() // MutableBytes would copy it twice
}
