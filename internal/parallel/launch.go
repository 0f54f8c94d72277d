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

// SeparateError reports that Slurm has started several tasks of a build with MPI without a launcher of MPI.
type SeparateError struct{ Tasks int }

func (e *SeparateError) Error() string {
	return fmt.Sprintf("Slurm has started %d tasks that MPI does not know of, so that each would train alone", e.Tasks)
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

// OnThisHost returns the number of ranks on this host, as far as the launcher says it, and otherwise 1.
func OnThisHost() int {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			if _, size := Launched(); size > 1 {
				return min(n, size)
			}
		}
	}
	return 1
}

// separateTasks returns the number of tasks of a Slurm step if they were started without a launcher of MPI, and otherwise 1.
func separateTasks() int {
	for _, launcher := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"} {
		if os.Getenv(launcher) != "" {
			return 1
		}
	}
	tasks, err := strconv.Atoi(os.Getenv("SLURM_STEP_NUM_TASKS"))
	if err != nil || os.Getenv("SLURM_PROCID") == "" {
		return 1
	}
	return max(tasks, 1)
}
