//go:build !mpi && !mpich

package parallel

// WithMPI reports whether this build can be one of several ranks, that is, was built with the tag mpi (Open MPI) or mpich.
const WithMPI = false

// Join returns a group of this process alone. It returns a [LaunchError] if a launcher has started several processes, because each of
// them would act as the only one.
func Join(func(line string)) (*Group, error) {
	if _, size := Launched(); size > 1 {
		return nil, &LaunchError{size}
	}
	return Local(1)[0], nil
}
