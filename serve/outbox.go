package serve

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits of sending encoded answers.
const (
	maxUnsent   = 256 << 20        // bytes of the answers that are being sent
	partSize    = 64 << 10         // bytes that are written at a time
	partTimeout = 30 * time.Second // until the client has taken a part
)

// outbox holds the encoded answers that are being sent. Clients may read slowly, so an answer has no place in the queue any more, and the
// bytes of all answers together are limited.
type outbox struct {
	limit int

	mu    sync.Mutex // guards the fields below
	bytes int        // of list
	list  []*unsent  // the oldest first
}

// unsent is an answer that is being sent.
type unsent struct {
	size    int
	control *http.ResponseController
	cut     bool // guarded by the outbox
}

// add adds an answer. If all together are too large, the connections of the oldest ones are cut off, but not that of the new one. The
// caller must call remove.
func (o *outbox) add(size int, control *http.ResponseController) *unsent {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes+size > o.limit && len(o.list) > 0 {
		oldest := o.list[0]
		oldest.cut = true
		_ = oldest.control.SetWriteDeadline(time.Unix(0, 0)) // a writer without deadlines does not block
		o.drop(oldest)
	}
	a := &unsent{size: size, control: control}
	o.list, o.bytes = append(o.list, a), o.bytes+size
	return a
}

// remove removes an answer. The connection of one that was sent goes on with other requests, without a time limit.
func (o *outbox) remove(a *unsent, sent bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !a.cut {
		o.drop(a)
	}
	if sent {
		_ = a.control.SetWriteDeadline(time.Time{})
	}
}

func (o *outbox) drop(a *unsent) {
	o.list = slices.DeleteFunc(o.list, func(other *unsent) bool { return other == a })
	o.bytes -= a.size
}

// extend begins the time limit anew, unless the answer is cut off.
func (o *outbox) extend(a *unsent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !a.cut {
		_ = a.control.SetWriteDeadline(time.Now().Add(partTimeout))
	}
}

// send sends an answer in JSON. The time limit is one for each part, as a large answer may take long to a client that does read.
func (o *outbox) send(w http.ResponseWriter, data []byte) {
	control, sent := http.NewResponseController(w), false
	a := o.add(len(data), control)
	defer func() { o.remove(a, sent) }()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	for part := range slices.Chunk(data, partSize) {
		o.extend(a)
		if _, err := w.Write(part); err != nil {
			return // the connection ends, as the answer is shorter than its header says
		}
	}
	sent = control.Flush() == nil
}
