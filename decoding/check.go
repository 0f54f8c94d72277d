package decoding

import (
	"fmt"
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/vocab"
)

const (
	checkedTokens = 6
	checkedSource = 4
	checkedWithin = 1e-3 // nats; float32 differs by far less, and a missing position by more
)

// CheckCache returns an error unless m, with its initial weights, gives tokens the same log-probabilities when it reads those before one by
// one with a cache as it does with teacher forcing. They differ if a position of the decoder depends on later ones, and if it depends on
// earlier ones that are not in the cache. perPosition is the number of ids of a source position.
func CheckCache(backend compute.Backend, m Model, perPosition int) error {
	d, err := New(backend, model.NewStore(), m)
	if err != nil {
		return err
	}
	defer d.Close()
	source, target := m.Vocabularies()
	answer, read, prompt := ids(checkedTokens, target), ids(perPosition, target), []vocab.ID{} // a language model does not read its source
	if !d.language {
		read = ids(checkedSource*perPosition, source)
		prompt = read
	}
	forced, err := d.forced(read, answer)
	if err != nil {
		return err
	}
	cached, err := d.cached(prompt, answer)
	if err != nil {
		return err
	}
	for i, a := range forced {
		b := cached[i]
		if math.IsNaN(a) && math.IsNaN(b) {
			return nil // training says so
		}
		if !(math.Abs(a-b) <= checkedWithin) {
			return fmt.Errorf("token %d of an answer has the log-probability %.4f with teacher forcing and %.4f in decoding, which reads the tokens before it only: "+
				"a position of the decoder depends on later ones, or on earlier ones that CacheWindows does not list", i+1, a, b)
		}
	}
	return nil
}

// ids returns n ids of a vocabulary of the given size, neighbours of which differ if it has more than one id besides padding.
func ids(n, size int) (list []vocab.ID) {
	for i := range n {
		list = append(list, vocab.ID(1+(size/2+i)%(size-1)))
	}
	return list
}

// forced returns the log-probability of each token of an answer with teacher forcing.
func (d *Decoder) forced(source, answer []vocab.ID) (list []float64, err error) {
	for i, id := range answer {
		out, err := d.uncached.Call(tensors.FromFlatDataAndDimensions(answer, 1, len(answer)), int32(i), tensors.FromFlatDataAndDimensions(source, 1, len(source)))
		if err != nil {
			return nil, engine.Plain(err)
		}
		rows, err := readRows(out[0], new([]float64))
		if err != nil {
			return nil, err
		}
		list = append(list, rows[0][id])
	}
	return list, nil
}

// cached returns the log-probability of each token of an answer when they are read one by one.
func (d *Decoder) cached(prompt, answer []vocab.ID) (list []float64, err error) {
	c, err := d.Start([][]vocab.ID{prompt})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var last []vocab.ID
	for _, id := range answer {
		logP, err := c.Next([]int{0}, last)
		if err != nil {
			return nil, err
		}
		list, last = append(list, logP[0][id]), []vocab.ID{id}
	}
	return list, nil
}
