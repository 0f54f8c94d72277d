package engine

import (
	"os"
	"slices"
	"testing"
)

// A rank uses the GPU of its number on the host, within those that it is shown; a process without a launcher uses the first ones.
func TestVisibleDevices(t *testing.T) {
	for _, c := range []struct {
		set     map[string]string
		devices int
		want    []int64
	}{
		{nil, 1, []int64{0}}, {nil, 3, []int64{0, 1, 2}},
		{map[string]string{"OMPI_COMM_WORLD_LOCAL_RANK": "2"}, 1, []int64{2}},
		{map[string]string{"MPI_LOCALRANKID": "1"}, 1, []int64{1}},
		{map[string]string{"SLURM_LOCALID": "3", "CUDA_VISIBLE_DEVICES": "4,5,6,7"}, 1, []int64{3}},
		{map[string]string{"SLURM_LOCALID": "3", "CUDA_VISIBLE_DEVICES": "0"}, 1, []int64{0}},
		{map[string]string{"SLURM_LOCALID": "5", "CUDA_VISIBLE_DEVICES": "2,3,4"}, 1, []int64{2}},
		{map[string]string{"SLURM_LOCALID": "0"}, 2, []int64{0, 1}},
	} {
		for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "CUDA_VISIBLE_DEVICES"} {
			value, ok := c.set[name]
			t.Setenv(name, value)
			if !ok {
				os.Unsetenv(name) // until the end of the test
			}
		}
		if got := visibleDevices(c.devices); !slices.Equal(got, c.want) {
			t.Errorf("%v, %d devices: %v, want %v", c.set, c.devices, got, c.want)
		}
	}
}
