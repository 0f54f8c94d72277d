package cpu

import (
	"sync"

	"github.com/gomlx/compute/dtypes"
)

// maxSpare is the maximum size in bytes of memory that is kept for new buffers whatever the garbage collector does.
const maxSpare = 32 << 20

// spare keeps the memory of finalized buffers for new ones of the same size: a decoder makes the same tensors for every token and every
// batch, and collecting them as garbage took a fifth of the time of a small model. What is more than maxSpare stays until the garbage
// collector has run twice. All methods may be called concurrently.
type spare struct {
	mu    sync.Mutex
	flats map[spareKey][]any // slices of the Go type of a buffer
	bytes int
	more  map[spareKey]*sync.Pool // of the same slices
}

type spareKey struct {
	dtype dtypes.DType
	size  int // number of elements
}

// take returns memory for a number of elements, with any content, or nil if there is none.
func (s *spare) take(dtype dtypes.DType, size int) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := spareKey{dtype, size}
	list := s.flats[key]
	if len(list) == 0 {
		if pool := s.more[key]; pool != nil {
			return pool.Get()
		}
		return nil
	}
	flat := list[len(list)-1]
	list[len(list)-1] = nil
	s.flats[key] = list[:len(list)-1]
	s.bytes -= dtype.SizeForDimensions(size)
	return flat
}

// keep gives memory that nothing else refers to.
func (s *spare) keep(dtype dtypes.DType, size int, flat any) {
	bytes := dtype.SizeForDimensions(size)
	if bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+bytes > maxSpare {
		s.loosen()
	}
	key := spareKey{dtype, size}
	if bytes > maxSpare {
		s.pool(key).Put(flat)
		return
	}
	if s.flats == nil {
		s.flats = make(map[spareKey][]any)
	}
	s.flats[key] = append(s.flats[key], flat)
	s.bytes += bytes
}

// loosen lets the garbage collector take all memory that is not used soon.
func (s *spare) loosen() {
	for key, list := range s.flats {
		for _, flat := range list {
			s.pool(key).Put(flat)
		}
	}
	s.flats, s.bytes = nil, 0
}

// pool returns the pool of a size.
func (s *spare) pool(key spareKey) *sync.Pool {
	if s.more == nil {
		s.more = make(map[spareKey]*sync.Pool)
	}
	if s.more[key] == nil {
		s.more[key] = &sync.Pool{}
	}
	return s.more[key]
}

// drop leaves all memory to the garbage collector.
func (s *spare) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flats, s.bytes, s.more = nil, 0, nil
}
