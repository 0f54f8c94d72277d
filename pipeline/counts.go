package pipeline

import "universal-transformer/internal/vocab"

// OnBatch sets a function that is called with the number of sources of each decoded batch. Call it before the model is used.
func (m *Model) OnBatch(f func(sources int)) { m.queue.OnBatch = f }

// OnToken sets a function that is called for each decoded token. It is not called for End tokens or by beam search. It is also called for cancelled
// requests. Call it before the model is used.
func (m *Model) OnToken(f func()) {
	m.queue.OnToken = func(token vocab.ID) {
		if token != vocab.End {
			f()
		}
	}
}
