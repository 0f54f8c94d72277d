package halting

import . "github.com/gomlx/gomlx/core/graph"

// ended tracks the positions that [Recurrence].After has ended. While it has ended none, no node is added to the graph.
type ended struct {
	r       Recurrence
	running *Node // [B, M] bool, false at positions that have ended; nil: none has
	at      *Node // the step after which the position ended, or the largest number if it runs on, [B, M]; nil: none has
}

// keep returns the revised state of running positions and the old state of the others.
func (e *ended) keep(revised, old *Node) *Node {
	if e.running == nil {
		return revised
	}
	return selectState(e.running, revised, old)
}

// after passes step t to After, and returns the positions that end now among those that ran, or nil for none.
func (e *ended) after(t int, state, output *Node) *Node {
	if e.r.After == nil {
		return nil
	}
	now := e.r.After(t, state, output)
	if now == nil {
		return nil
	}
	if e.running == nil {
		e.running = e.r.Mask
		e.at = MulScalar(OnesLike(ConvertDType(e.r.Mask, state.DType())), MaxSteps)
	}
	now = LogicalAnd(e.running, now)
	e.at = Where(now, MulScalar(OnesLike(e.at), float64(t)), e.at)
	e.running = LogicalAnd(e.running, LogicalNot(now))
	return now
}

// updates returns n of positions that would run depth steps, a scalar or [B, 1], if none ended earlier.
func (e *ended) updates(depth *Node) *Node {
	n := updatesOf(e.r.Mask, depth)
	if e.at == nil {
		return n
	}
	return Min(n, e.at)
}
