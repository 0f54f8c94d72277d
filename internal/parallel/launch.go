package parallel

import (
	"fmt"
	"os"
	"strconv"
)

// LaunchError reports that several processes were launched with a build that cannot join them.
type LaunchError struct{ Size int }

func (e *LaunchError) Error() string {
	return fmt.Sprintf("%d ranks were launched, but this program was built without MPI: build it with -tags mpi (Open MPI) or -tags mpich", e.Size)
}

// Launched returns this process's rank and the number of ranks from the environment, as set by Open MPI's mpirun or a launcher that
// speaks PMI. It returns 0 and 1 if there was no launcher.
func Launched() (rank, size int) {
	for _, launcher := range []string{"OMPI_COMM_WORLD_", "PMI_"} {
		rank, err := strconv.Atoi(os.Getenv(launcher + "RANK"))
		size, err2 := strconv.Atoi(os.Getenv(launcher + "SIZE"))
		if err == nil && err2 == nil && size > 1 {
			return rank, size
		}
	}
	return 0, 1
}
