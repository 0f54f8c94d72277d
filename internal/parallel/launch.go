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
// speaks PMI, or by Slurm with PMIx. It returns 0 and 1 if there was no launcher.
func Launched() (rank, size int) {
	for _, launcher := range [][2]string{
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"},
		{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}, {"PMIX_RANK", "SLURM_NTASKS"}, // PMIx has no variable for the number of ranks
	} {
		rank, err := strconv.Atoi(os.Getenv(launcher[0]))
		size, err2 := strconv.Atoi(os.Getenv(launcher[1]))
		if err == nil && err2 == nil && size > 1 {
			return rank, size
		}
	}
	return 0, 1
}
