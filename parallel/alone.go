//go:build !mpi && !mpich

package parallel

// WithMPI tells whether this build can be one of several ranks: it was built with the tag mpi (Open MPI) or mpich.
const WithMPI = false

// Join gives a group of this process alone. If a launcher has started several it is a [LaunchError]: each would take itself for the only one.
func Join() (*Group, error) {
	if _, size := Launched(); size > 1 {
		return nil, &LaunchError{size}
	}
	return Local(1)[0], nil
}
