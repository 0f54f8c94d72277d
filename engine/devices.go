package engine

import (
	"os"
	"strconv"
	"strings"
)

// visibleDevices returns the numbers of the GPUs that a process uses: the first ones, or, if it is one of several on this host and uses
// one, that of its rank on the host. A launcher may show each process some of the GPUs only; ranks begin again after the last of them.
func visibleDevices(devices int) []int64 {
	if devices == 1 {
		return []int64{localRank()}
	}
	visible := make([]int64, devices)
	for i := range visible {
		visible[i] = int64(i)
	}
	return visible
}

// localRank returns the rank of this process among those of this host, as launchers say it, modulo the number of GPUs that
// CUDA_VISIBLE_DEVICES shows; 0 if there is no launcher.
func localRank() int64 {
	shown, restricted := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"} {
		rank, err := strconv.Atoi(os.Getenv(name))
		if err != nil || rank < 0 {
			continue
		}
		if restricted {
			rank %= strings.Count(shown, ",") + 1
		}
		return int64(rank)
	}
	return 0
}
