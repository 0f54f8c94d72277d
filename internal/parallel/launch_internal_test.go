package parallel

import "testing"

// Tasks of Slurm that no launcher of MPI has started are separate; a step of one task, a batch script and ranks of a launcher are not.
// Caught when planted: a batch script refused; ranks of mpirun within an allocation of several tasks refused.
func TestSeparateTasks(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[string]string
		want int
	}{
		{"srun -n 2 without PMIx", map[string]string{"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, 2},
		{"srun -n 1, as of an array", map[string]string{"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, 1},
		{"srun -n 2 --mpi=pmix", map[string]string{"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1", "PMIX_RANK": "1"}, 1},
		{"a batch script of two tasks", map[string]string{"SLURM_NTASKS": "2", "SLURM_PROCID": "0"}, 1},
		{"mpirun -n 1, whose daemons srun has started", map[string]string{"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "OMPI_COMM_WORLD_SIZE": "1"}, 1},
		{"srun with PMI", map[string]string{"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "PMI_SIZE": "2"}, 1},
		{"no Slurm", nil, 1},
	} {
		for _, name := range []string{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
			t.Setenv(name, c.set[name])
		}
		if got := separateTasks(); got != c.want {
			t.Errorf("%s: %d separate tasks, want %d", c.name, got, c.want)
		}
	}
}

// The ranks of a host are those that the launcher counts. Tasks that are not ranks do not count.
func TestOnThisHost(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[string]string
		want int
	}{
		{"mpirun on two hosts", map[string]string{"OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 4},
		{"MPICH", map[string]string{"PMI_SIZE": "3", "PMI_RANK": "0", "MPI_LOCALNRANKS": "3"}, 3},
		{"srun --mpi=pmix", map[string]string{"SLURM_STEP_NUM_TASKS": "6", "PMIX_RANK": "1", "SLURM_NTASKS_PER_NODE": "2"}, 2},
		{"a batch script", map[string]string{"SLURM_NTASKS": "6", "SLURM_NTASKS_PER_NODE": "2"}, 1},
		{"no launcher", nil, 1},
	} {
		for _, name := range []string{
			"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS",
			"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "PMIX_RANK",
		} {
			t.Setenv(name, c.set[name])
		}
		if got := OnThisHost(); got != c.want {
			t.Errorf("%s: %d ranks on this host, want %d", c.name, got, c.want)
		}
	}
}
