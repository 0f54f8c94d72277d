package parallel

import (
	"fmt"
	"os"
	"strconv"
)

// LaunchError says that several processes were launched, of a build that cannot join them.
type LaunchError struct {
	Rank, Size int // as the launcher counts
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("%d ranks were launched, but this program was built without MPI: build it with -tags mpi (Open MPI) or -tags mpich", e.Size)
}

// launched is a LaunchError if the environment says that this is one of several processes.
func launched() error {
	for _, launcher := range []struct{ rank, size string }{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}} {
		if size, err := strconv.Atoi(os.Getenv(launcher.size)); err == nil && size > 1 {
			rank, _ := strconv.Atoi(os.Getenv(launcher.rank))
			return &LaunchError{rank, size}
		}
	}
	return nil
}
