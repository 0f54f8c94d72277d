package cpu

import (
	"sync"

	"github.com/gomlx/compute/dtypes"
)

const (
	minSpare = 32 << 20  // least limit of a generation, in bytes
	maxSpare = 512 << 20 // and largest
)

// spare keeps the memory of finalized buffers for new ones of the same size: a decoder makes the same tensors for every token and every
// batch, and collecting them as garbage took a fifth of the time of a small model.
//
// It has two generations. When the young one has more bytes than the limit, the old one is left to the garbage collector, and the young
// one becomes the old one. So memory of sizes that are no longer needed goes. If a size is needed that has just gone, the limit is too
// low for the tensors of one step, and grows; if none is, it falls slowly. All methods may be called concurrently.
type spare struct {
	mu         sync.Mutex
	young, old generation
	gone       map[spareKey]int // numbers of slices of the generation that was left last
	limit      int              // of a generation, in bytes; less than minSpare counts as minSpare
	missed     bool             // a slice that is gone was needed since then
}

// A generation is a stock of slices of the Go type of a buffer.
type generation struct {
	flats map[spareKey][]any
	bytes int
}

type spareKey struct {
	dtype dtypes.DType
	size  int // number of elements
}

func (k spareKey) bytes() int { return k.dtype.SizeForDimensions(k.size) }

// take returns memory for a number of elements, with any content, or nil if there is none.
func (s *spare) take(dtype dtypes.DType, size int) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := spareKey{dtype, size}
	for _, g := range []*generation{&s.young, &s.old} {
		if flat := g.take(key); flat != nil {
			return flat
		}
	}
	if s.gone[key] > 0 {
		s.gone[key]--
		s.missed = true
		s.limit = min(max(s.limit, minSpare)+key.bytes(), maxSpare)
	}
	return nil
}

// keep gives memory that nothing else refers to.
func (s *spare) keep(dtype dtypes.DType, size int, flat any) {
	key := spareKey{dtype, size}
	if key.bytes() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.young.keep(key, flat)
	if s.young.bytes > max(s.limit, minSpare) {
		s.age()
	}
}

// age leaves the old generation to the garbage collector.
func (s *spare) age() {
	if len(s.gone) > 0 && !s.missed {
		s.limit -= s.limit / 8
	}
	s.missed = false
	s.gone = make(map[spareKey]int)
	for key, list := range s.old.flats {
		if len(list) > 0 {
			s.gone[key] = len(list)
		}
	}
	s.old, s.young = s.young, generation{}
}

// drop leaves all memory to the garbage collector.
func (s *spare) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.young, s.old, s.gone = generation{}, generation{}, nil
}

func (g *generation) take(key spareKey) any {
	list := g.flats[key]
	if len(list) == 0 {
		return nil
	}
	flat := list[len(list)-1]
	list[len(list)-1] = nil
	g.flats[key] = list[:len(list)-1]
	g.bytes -= key.bytes()
	return flat
}

func (g *generation) keep(key spareKey, flat any) {
	if g.flats == nil {
		g.flats = make(map[spareKey][]any)
	}
	g.flats[key] = append(g.flats[key], flat)
	g.bytes += key.bytes()
}
