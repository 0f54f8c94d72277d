package capacity

import (
	"slices"
	"testing"

	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/gomlx/core/tensors"
)

// Each device gets as many rows, in order, and zeros where there are no more; each gets the same scalar.
func TestSpread(t *testing.T) {
	mesh, err := distributed.NewDeviceMesh([]int{4}, []string{rowsAxis})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	ids5, err := split{mesh: mesh}.spread(tensors.FromFlatDataAndDimensions(ids, 5, 2))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int32{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 0, 0}, {0, 0, 0, 0}} {
		if got := tensors.MustCopyFlatData[int32](ids5.Shards()[i]); !slices.Equal(got, want) {
			t.Errorf("device %d has %v, want %v", i, got, want)
		}
	}
	ids4, err := split{mesh: mesh}.spread(tensors.FromFlatDataAndDimensions(ids[:4], 4, 1))
	if err != nil || ids4.ShardShape().Size() != 1 {
		t.Errorf("4 rows on 4 devices: %v, %v", ids4.ShardShape(), err)
	}
	rate, err := split{mesh: mesh}.spread(tensors.FromScalar(float32(0.5)))
	if err != nil {
		t.Fatal(err)
	}
	for i, shard := range rate.Shards() {
		if got := tensors.ToScalar[float32](shard); got != 0.5 {
			t.Errorf("device %d has the scalar %v", i, got)
		}
	}
}
