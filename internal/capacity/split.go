package capacity

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/core/tensors/dtensor"
	"github.com/gomlx/gomlx/ml/model"
)

// rowsAxis is the only axis of the mesh of devices.
const rowsAxis = "rows"

// SplitRows splits the rows of the graphs' inputs over all devices of the backend, if it has several; the variables are replicated on all
// of them. Up to rounding, results equal those of one device. If the number of rows is not a multiple of the number of devices, rows of
// zeros are appended as padding, which the graphs must ignore. It must be called once per store, before anything is compiled, because
// variables keep the mesh over which they were distributed.
func (s *Graphs) SplitRows() {
	n := s.backend.NumDevices()
	if n < 2 {
		return
	}
	mesh, err := distributed.NewDeviceMesh([]int{n}, []string{rowsAxis})
	if err != nil {
		panic(err) // cannot happen: the axis has a name
	}
	s.mesh = mesh
}

// Devices returns the number of devices used.
func (s *Graphs) Devices() int {
	if s.mesh == nil {
		return 1
	}
	return s.mesh.NumDevices()
}

// A split is a graph that XLA has divided among the devices of a mesh.
type split struct {
	exec  *model.Exec
	mesh  *distributed.DeviceMesh
	bytes int
}

// compileSplit is like compile for several devices. GoMLX compiles such a graph on its first call.
func (s *Graphs) compileSplit(exec *model.Exec, inputs []any) (executable, []*tensors.Tensor, error) {
	e := split{exec: exec, mesh: s.mesh}
	specs := make([]*distributed.ShardingSpec, len(inputs))
	for i, x := range inputs {
		t, err := tensors.FromAnyValue(x)
		if err != nil {
			return nil, nil, fmt.Errorf("input %d: %w", i, err)
		}
		specs[i] = e.spec(t.Shape())
	}
	exec.AutoSharding(s.mesh).WithInputShardingSpecs(specs...).WithOutputShardingSpecs(distributed.NewReplicatedShardingSpec(s.mesh))
	for v := range s.store.IterVariables() { // GoMLX's random state is not bound to its store, and thus does not use the store's default spec
		if v.ShardingSpec() == nil {
			if err := v.SetShardingSpec(distributed.NewReplicatedShardingSpec(s.mesh)); err != nil {
				return nil, nil, err
			}
		}
	}
	out, g, err := e.call(inputs)
	if err != nil {
		return nil, nil, err
	}
	e.bytes = sizeOf(g)
	return e, out, nil
}

// spec returns how an input is distributed over the devices: ids [B, ...] by rows; scalars are replicated.
func (e split) spec(shape shapes.Shape) *distributed.ShardingSpec {
	spec := distributed.NewReplicatedShardingSpec(e.mesh)
	if shape.Rank() > 0 {
		spec.Axes = []distributed.AxisSpec{{rowsAxis}}
	}
	return spec
}

// spread distributes an input over the devices, padded with rows of zeros to a multiple of their number.
func (e split) spread(t *tensors.Tensor) (*dtensor.Tensor, error) {
	shape, n := t.Shape().Clone(), e.mesh.NumDevices()
	if shape.Rank() > 0 && shape.Dimensions[0]%n != 0 {
		shape.Dimensions[0] += n - shape.Dimensions[0]%n
		filled := tensors.FromShape(shape)
		var inner error
		err := t.ConstBytes(func(rows []byte) {
			inner = filled.MutableBytes(func(all []byte) { copy(all, rows) })
		})
		if err := errors.Join(err, inner); err != nil {
			return nil, err
		}
		t = filled
	}
	return dtensor.ShardTensor(e.spec(shape), t)
}

func (e split) run(inputs []any) ([]*tensors.Tensor, error) {
	out, _, err := e.call(inputs)
	return out, err
}

// call calls the graph. All devices have all results; those of the first are returned.
func (e split) call(inputs []any) ([]*tensors.Tensor, *Graph, error) {
	arguments := make([]any, len(inputs))
	for i, x := range inputs {
		t, err := tensors.FromAnyValue(x)
		if err != nil {
			return nil, nil, fmt.Errorf("input %d: %w", i, err)
		}
		spread, err := e.spread(t)
		if err != nil {
			return nil, nil, fmt.Errorf("input %d: %w", i, err)
		}
		defer func() { _ = spread.FinalizeAll() }()
		arguments[i] = spread
	}
	out, g, err := e.exec.CallWithGraph(arguments...)
	if err != nil {
		return nil, nil, err
	}
	n := len(out) / e.mesh.NumDevices()
	finalize(out[n:])
	return out[:n], g, nil
}

func (e split) size() int { return e.bytes }
func (e split) free()     { e.exec.Finalize() }
