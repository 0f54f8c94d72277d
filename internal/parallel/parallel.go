// Package parallel adds vectors over the processes of a job, its ranks, and exchanges numbers and bytes between them. It works on
// slices, not on tensors.
//
// All methods of a [Group] except Rank and Size are collective: all ranks call the same methods in the same order, and each call
// waits for the others. Vectors are added in the order of ranks, so that the result has the same bits as a plain loop in one process,
// for any number of ranks. MPI_Allreduce does not guarantee an order.
package parallel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Group is the ranks of a job, seen from one of them. It is not safe for concurrent use.
type Group struct {
	transport
	buffer []float32 // of Fold and Share
}

// A transport moves numbers between ranks. It is an interface so that Fold can be tested without MPI.
type transport interface {
	Rank() int // of this process, from 0
	Size() int // ranks
	Close() error

	// swap sends to a peer and receives from it.
	swap(peer int, send, receive []float32) error
	// gather sets all to the concatenation of own over all ranks; own has the same length on all.
	gather(all, own []float64) error
	gather32(all, own []float32) error
	// broadcast overwrites data with that of rank 0, which must have the same length.
	broadcast(data []byte) error
}

// chunk returns the length of the part of n numbers that each rank adds, rounded up.
func (g *Group) chunk(n int) int { return (n + g.Size() - 1) / g.Size() }

// part returns the range of n numbers that a rank adds.
func (g *Group) part(n, rank int) (from, to int) {
	chunk := g.chunk(n)
	return min(rank*chunk, n), min((rank+1)*chunk, n)
}

// Own returns zeros for the part of a sum of n numbers that this rank owns, one N-th. All parts have the same length, rounded up; the last
// ones may end beyond the sum.
func (g *Group) Own(n int) []float32 { return make([]float32, g.chunk(n)) }

// Fold adds x of every rank to own, the part of the sum that this rank owns ([Group.Own]),
//
//	own = ((own + x of rank 0) + x of rank 1) + ...
//
// After the last Fold, [Group.Share] distributes the whole sum to all ranks. For each Fold, and for Share, a rank sends and receives
// (N-1)/N of a vector, and the group keeps a buffer of the length of x. Lengths that differ between ranks are an error.
func (g *Group) Fold(own, x []float32) error {
	n, me := len(x), g.Rank()
	if err := g.equal(n, n+len(own)-g.chunk(n)); err != nil {
		return err
	}
	from, to := g.part(n, me)
	pieces := g.room(n)
	for round := range g.Size() {
		peer := (round - me + g.Size()) % g.Size()
		theirs, end := g.part(n, peer)
		piece := pieces[peer*(to-from):][:to-from]
		if peer == me {
			copy(piece, x[from:to])
		} else if err := g.swap(peer, x[theirs:end], piece); err != nil {
			return err
		}
	}
	for rank := range g.Size() {
		for i, v := range pieces[rank*(to-from):][:to-from] {
			own[i] += v
		}
	}
	return nil
}

// Share sets total to the whole sum on all ranks, each of which owns a part.
func (g *Group) Share(own, total []float32) error {
	n := len(total)
	if err := g.equal(n, n+len(own)-g.chunk(n)); err != nil {
		return err
	}
	all := g.room(n)
	if err := g.gather32(all, own); err != nil {
		return err
	}
	copy(total, all) // excess elements are at the end
	return nil
}

// room returns a buffer for the parts of n numbers, which the next call reuses.
func (g *Group) room(n int) []float32 {
	n = g.chunk(n) * g.Size()
	if cap(g.buffer) < n {
		g.buffer = make([]float32, n)
	}
	return g.buffer[:n]
}

// equal returns an error unless all lengths are equal, and the same on all ranks.
func (g *Group) equal(lengths ...int) error {
	all, err := g.gatherEqual(float64(slices.Max(lengths)), float64(slices.Min(lengths)))
	if err != nil {
		return err
	}
	for i, n := range all {
		if n != all[0] {
			return fmt.Errorf("parallel: rank %d has %v numbers, rank 0 has %v", i/2, n, all[0])
		}
	}
	return nil
}

// gatherEqual gathers the same few numbers from every rank.
func (g *Group) gatherEqual(own ...float64) ([]float64, error) {
	all := make([]float64, len(own)*g.Size())
	return all, g.gather(all, own)
}

// Gather returns the numbers of all ranks, in the order of ranks. Their lengths may differ.
func (g *Group) Gather(x []float64) ([][]float64, error) {
	lengths, err := g.gatherEqual(float64(len(x)))
	if err != nil {
		return nil, err
	}
	longest := int(slices.Max(lengths))
	all := make([]float64, longest*g.Size())
	if longest > 0 {
		if err := g.gather(all, append(slices.Clone(x), make([]float64, longest-len(x))...)); err != nil {
			return nil, err
		}
	}
	parts := make([][]float64, g.Size())
	for rank, n := range lengths {
		parts[rank] = all[rank*longest:][:int(n)]
	}
	return parts, nil
}

// maxBytes is the most that one broadcast of MPI sends: MPI counts in int32.
const maxBytes = 1 << 30

// maxMessage is the largest message of [Group.Broadcast], beyond the checkpoint of any model: a longer one comes from another program.
const maxMessage = 1 << 38

// Broadcast returns rank 0's data on all ranks. The argument of the other ranks is ignored. Data beyond maxMessage are an error.
func (g *Group) Broadcast(data []byte) ([]byte, error) {
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	if err := g.broadcast(size); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(size)
	if n > maxMessage {
		return nil, fmt.Errorf("parallel: rank 0 sends %d bytes, and at most %d are accepted: start the same program on all ranks", n, uint64(maxMessage))
	}
	if g.Rank() != 0 {
		data = make([]byte, n)
	}
	for chunk := range slices.Chunk(data, maxBytes) {
		if err := g.broadcast(chunk); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// A RankError is an error known to all ranks; see [Group.Agree].
type RankError struct {
	Rank int    // the lowest rank with an error
	Text string // message of the error
	err  error  // the error itself, on that rank
}

// Error names the rank, except on rank 0, which reports for the job.
func (e *RankError) Error() string {
	if e.Rank == 0 {
		return e.Text
	}
	return fmt.Sprintf("rank %d: %s", e.Rank, e.Text)
}

// Unwrap returns the original error on the rank that has it, and nil on others.
func (e *RankError) Unwrap() error { return e.err }

// maxText is the number of bytes of an error text that are sent to other ranks.
const maxText = 4096

// Agree returns nil on all ranks if err is nil on all of them. Otherwise it returns the same [RankError] on all, so that all stop
// together. An error that was already agreed on is returned at once. In a group of one rank it returns err.
func (g *Group) Agree(err error) error {
	var known *RankError
	if g.Size() == 1 || errors.As(err, &known) {
		return err
	}
	var text []float64
	if err != nil {
		said := err.Error() + " " // the blank distinguishes an empty text from no error
		for _, b := range []byte(said[:min(len(said), maxText)]) {
			text = append(text, float64(b))
		}
	}
	texts, broken := g.Gather(text)
	if broken != nil {
		return errors.Join(err, broken)
	}
	rank := slices.IndexFunc(texts, func(text []float64) bool { return len(text) > 0 })
	if rank < 0 {
		return nil
	}
	var said []byte
	for _, b := range texts[rank][:len(texts[rank])-1] {
		said = append(said, byte(b))
	}
	e := &RankError{Rank: rank, Text: string(said)}
	if rank == g.Rank() {
		e.err = err
	}
	return e
}
