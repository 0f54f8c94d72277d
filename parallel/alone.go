//go:build !mpi && !mpich

package parallel

import (
	"os"
	"strconv"
)

// WithMPI tells whether this build can be one of several ranks: it was built with the tag mpi (Open MPI) or mpich.
const WithMPI = false

// Join gives a group of this process alone. If a launcher has started several it is a [LaunchError]: each would take itself for the only one.
func Join() (*Group, error) {
	if err := launched(); err != nil {
		return nil, err
	}
	return Local(1)[0], nil
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
