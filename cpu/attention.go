package cpu

import (
	"github.com/gomlx/compute"
)

func decomposeAttention(n *node, to compute.Function, in []compute.Value) ([]compute.Value, error) {
	return nil, notImplemented(n.op)
}

func (em *emitter) lowerAttention(e *expr) { panic(unsupported{e.op.String()}) }

type attentionCall struct{}
