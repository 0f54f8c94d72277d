package parallel

import (
	"fmt"
	"os"
	"strconv"
)

// LaunchError says that several processes were launched, of a build that cannot join them.
type LaunchError struct{ Size int }

func (e *LaunchError) Error() string {
	return fmt.Sprintf("%d ranks were launched, but this program was built without MPI: build it with -tags mpi (Open MPI) or -tags mpich", e.Size)
}

// Launched is what a launcher has left in the environment, Open MPI's mpirun or one that speaks PMI: which rank this process is, of how many. It is
// 0 of 1 if there is none.
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
