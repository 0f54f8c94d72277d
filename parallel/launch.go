package parallel

import "fmt"

// LaunchError says that several processes were launched, of a build that cannot join them.
type LaunchError struct {
	Rank, Size int // as the launcher counts
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("%d ranks were launched, but this program was built without MPI: build it with -tags mpi (Open MPI) or -tags mpich", e.Size)
}
