package pipeline

import "universal-transformer/internal/vocab"

// OnBatch has f called with the number of sources of each batch that is decoded. Call it before the model is used.
func (m *Model) OnBatch(f func(sources int)) { m.queue.OnBatch = f }

// OnToken has f called for each token that is decoded, without ends, also for callers who have given up meanwhile, and not by beam search.
// Call it before the model is used.
func (m *Model) OnToken(f func()) {
	m.queue.OnToken = func(token vocab.ID) {
		if token != vocab.End {
			f()
		}
	}
}
