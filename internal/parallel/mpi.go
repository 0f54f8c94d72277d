//go:build mpi || mpich

package parallel

import (
	"fmt"

	"cogentcore.org/lab/base/mpi"
)

// WithMPI reports whether this build can be one of several ranks, that is, was built with the tag mpi (Open MPI) or mpich.
const WithMPI = true

// Join makes this process a rank of the job launched by mpirun, srun or the like; without a launcher, the group has one rank. On rank 0,
// say receives a line when it has been waiting for the other ranks for long, here or in an exchange.
func Join(say func(line string)) (*Group, error) {
	mpi.LogErrors = false
	if rank, size := Launched(); rank != 0 || size == 1 {
		say = nil
	}
	if !mpi.IsOn() {
		if err := (watch{patience, say}).over(mpi.InitThreadSafe); err != nil { // goroutines move between threads
			return nil, fmt.Errorf("parallel: this MPI cannot be called from several threads: %w", err)
		}
	}
	world, err := mpi.NewComm(nil)
	if err != nil {
		return nil, fmt.Errorf("parallel: %w", err)
	}
	if _, size := Launched(); size != world.Size() && world.Size() == 1 {
		return nil, fmt.Errorf("parallel: %d ranks were launched, but by another MPI than this program was built with: use that one's mpirun", size)
	}
	if tasks := separateTasks(); world.Size() == 1 && tasks > 1 {
		return nil, &SeparateError{tasks}
	}
	return &Group{transport: watched{&remote{world, world.Rank(), world.Size()}, watch{patience, say}}}, nil
}

// A remote is a rank of an MPI job. MPI ends the whole job on its own errors.
type remote struct {
	comm       *mpi.Comm
	rank, size int
}

func (r *remote) Rank() int { return r.rank }

func (r *remote) Size() int { return r.size }

// Close waits for all ranks. A rank that cannot wait, because another one does not respond, exits without Close, and the launcher
// ends the job.
func (r *remote) Close() error {
	mpi.Finalize()
	return nil
}

// tag is the tag of all messages; their order is fixed.
const tag = 1

// swap lets the lower rank send first, so that the two ranks cannot deadlock.
func (r *remote) swap(peer int, out, in []float32) (err error) {
	sending := func() {
		if err == nil && len(out) > 0 {
			err = r.comm.SendF32(peer, tag, out)
		}
	}
	if r.rank < peer {
		sending()
	}
	if err == nil && len(in) > 0 {
		err = r.comm.RecvF32(peer, tag, in)
	}
	if r.rank > peer {
		sending()
	}
	return err
}

func (r *remote) gather(all, own []float64) error { return r.comm.AllGatherF64(all, own) }

func (r *remote) gather32(all, own []float32) error {
	if len(own) == 0 {
		return nil
	}
	return r.comm.AllGatherF32(all, own)
}

func (r *remote) broadcast(data []byte) error { return r.comm.BcastU8(0, data) }
