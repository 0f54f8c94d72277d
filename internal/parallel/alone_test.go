//go:build !mpi && !mpich

package parallel_test

import (
	"errors"
	"strings"
	"testing"

	"universal-transformer/internal/parallel"
)

// A build without MPI is alone, and refuses to be one of several.
// Caught when planted: one process of mpirun -n 1 refused.
func TestJoinWithoutMPI(t *testing.T) {
	for _, c := range []struct {
		name, size, rank, value string
		want                    int // ranks of the LaunchError, 0: none
	}{
		{"OMPI_COMM_WORLD_SIZE", "1", "OMPI_COMM_WORLD_RANK", "0", 0},
		{"OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3", 4},
		{"PMI_SIZE", "2", "PMI_RANK", "1", 2},
		{"PMI_SIZE", "", "PMI_RANK", "", 0},
		{"SLURM_STEP_NUM_TASKS", "3", "PMIX_RANK", "2", 3},
		{"SLURM_NTASKS", "2", "PMIX_RANK", "1", 2},
		{"SLURM_NTASKS", "4", "SLURM_PROCID", "0", 0}, // a batch script that was not started by srun
	} {
		t.Run(c.name+c.size, func(t *testing.T) {
			for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"} {
				t.Setenv(name, "")
			}
			t.Setenv(c.name, c.size)
			t.Setenv(c.rank, c.value)
			g, err := parallel.Join(nil)
			var several *parallel.LaunchError
			if errors.As(err, &several) != (c.want > 0) || c.want == 0 && (err != nil || g.Size() != 1 || g.Rank() != 0) {
				t.Fatalf("%v, %v", g, err)
			}
			if c.want > 0 && (several.Size != c.want || !strings.Contains(err.Error(), "-tags mpi")) {
				t.Errorf("%+v: %v", several, err)
			}
			if rank, size := parallel.Launched(); rank != max(c.want-1, 0) || size != max(c.want, 1) {
				t.Errorf("rank %d of %d", rank, size)
			}
		})
	}
}
