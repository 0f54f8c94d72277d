package training

import (
	"errors"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/safetensors"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// averaged is the scope of the exponential moving averages of the weights.
const averaged = "/averaged"

// averageShare is the factor by which an update multiplies the moving average. It is smaller than Average at the beginning, so that the initial
// weights are forgotten:
//
//	mean_s = share_s mean_(s-1) + (1 - share_s) weights_s,  share_s = min(Average, (s-1) / (s+9))
func averageShare(c schedule.Config, step int64) float32 {
	return float32(min(c.Average, float64(step-1)/float64(step+9)))
}

// average updates the moving averages with the weights after an update; share is the scalar of averageShare.
func (t *Trainer) average(scope *model.Scope, share *Node) {
	g := share.Graph()
	for _, v := range trainable(scope, g) {
		weight, mean := v.NodeValue(g), companionVariable(scope, v, averaged)
		mean.SetNodeValue(Add(Mul(share, mean.NodeValue(g)), Mul(OneMinus(share), weight)))
	}
}

// withMeans runs a function while the parameters are replaced by their averages, if there are any.
func (t *Trainer) withMeans(do func() error) error {
	if t.Config.Average == 0 {
		return do()
	}
	if err := t.exchange(); err != nil {
		return err
	}
	err := do()
	return errors.Join(err, t.exchange())
}

// exchange swaps the values of the parameters and of their averages.
func (t *Trainer) exchange() error {
	for v := range t.Store.IterVariables() {
		mean := t.Store.GetVariable(averaged + v.Path())
		if !Trained(v.Path()) || mean == nil {
			continue
		}
		a, err := v.Value()
		if err != nil {
			return err
		}
		b, err := mean.Value()
		if err != nil {
			return err
		}
		if err := errors.Join(v.SetValuePreservingOld(b), mean.SetValuePreservingOld(a)); err != nil {
			return err
		}
	}
	return nil
}

// Parameters returns the parameters of a checkpoint for use after training: their moving averages, if training kept them.
func Parameters(stored []safetensors.Tensor) (kept []safetensors.Tensor) {
	means := map[string]safetensors.Tensor{}
	for _, s := range stored {
		if path, ok := strings.CutPrefix(universal.Path(s.Name), averaged); ok {
			means[universal.Name(path)] = s
		}
	}
	for _, s := range stored {
		if !Trained(universal.Path(s.Name)) {
			continue
		}
		if mean, ok := means[s.Name]; ok {
			s.Shape, s.DType, s.Data = mean.Shape, mean.DType, mean.Data
		}
		kept = append(kept, s)
	}
	return kept
}
