package cpu

import (
	"fmt"
	"log"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/replay"
)

// replay rebuilds the recorded graph on the portable backend, and prints the reason.
func (bd *builder) replay(reason string) (compute.Executable, error) {
	if _, said := bd.backend.replayReasons.LoadOrStore(reason, true); !said {
		log.Printf("cpu: graphs like %q run on the portable backend: %s", bd.module.Name, reason)
	}
	portable, err := bd.backend.portable()
	if err != nil {
		return nil, fmt.Errorf("cannot create the portable backend: %w", err)
	}
	target := portable.Builder(bd.module.Name)
	if err := replay.Module(bd.module, target); err != nil {
		return nil, err
	}
	exec, err := target.Compile()
	if err != nil {
		return nil, err
	}
	return &replayed{backend: bd.backend, portable: portable, exec: exec}, nil
}

// replayed runs a graph on the portable backend. It copies inputs to that backend and takes over its outputs.
type replayed struct {
	backend  *Backend
	portable compute.Backend
	exec     compute.Executable
}

func (r *replayed) Finalize() { r.exec.Finalize() }

func (r *replayed) Inputs() ([]string, []shapes.Shape) { return r.exec.Inputs() }

func (r *replayed) Outputs() []shapes.Shape { return r.exec.Outputs() }

func (r *replayed) Execute(inputs []compute.Buffer, donate []bool, _ compute.DeviceNum) ([]compute.Buffer, error) {
	_, inShapes := r.Inputs()
	in, err := checkInputs(inputs, inShapes)
	if err != nil {
		return nil, err
	}
	defer release(in, donate)
	copies := make([]compute.Buffer, len(in))
	owned := make([]bool, len(in))
	for i, buf := range in {
		if copies[i], err = r.portable.BufferFromFlatData(0, buf.flat, buf.shape); err != nil {
			return nil, err
		}
		owned[i] = true
	}
	outs, err := r.exec.Execute(copies, owned, 0)
	if err != nil {
		return nil, err
	}
	results := make([]compute.Buffer, len(outs))
	for i, out := range outs {
		flat, err := out.Data()
		if err != nil {
			return nil, err
		}
		shape, err := out.Shape()
		if err != nil {
			return nil, err
		}
		result := &buffer{backend: r.backend, shape: shape, flat: flat, data: flatPointer(flat)}
		result.seen.Store(true) // by the portable backend
		results[i] = result
	}
	return results, nil
}
