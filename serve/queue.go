package serve

import (
	"fmt"
	"net/http"
)

// maxTraces is the number of traces that wait or are computed at a time. They are computed one after the other, and have a queue of their
// own, so that they take no places of other requests.
const maxTraces = 16

// queue has a place for each request that waits or is computed.
type queue struct {
	what   string // its requests
	places chan struct{}
}

func newQueue(what string, places int) queue { return queue{what, make(chan struct{}, places)} }

// enter takes a place, or returns an error if none is free. The caller must call leave.
func (q *queue) enter() error {
	select {
	case q.places <- struct{}{}:
		return nil
	default:
		return failure{status: http.StatusTooManyRequests, code: "queue_full", message: fmt.Sprintf("%d %s are waiting already: try again later", cap(q.places), q.what)}
	}
}

func (q *queue) leave() { <-q.places }

// length returns how many places are taken.
func (q *queue) length() float64 { return float64(len(q.places)) }
