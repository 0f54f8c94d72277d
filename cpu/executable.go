package cpu

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/compile"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/ir"
)

// An executable is a compiled main function.
type executable struct {
	backend         *Backend
	main            *exec.Program
	names           []string
	inputs, outputs []shapes.Shape
	operations      float64 // see Cost
}

var _ compute.Executable = (*executable)(nil)

// adopt registers an executable, so that finalizing the backend frees its memory.
func (b *Backend) adopt(e *executable) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.executables != nil {
		b.executables[e] = struct{}{}
	}
}

// Finalize frees the memory kept between executions.
func (e *executable) Finalize() {
	e.backend.mu.Lock()
	delete(e.backend.executables, e)
	e.backend.mu.Unlock()
	e.release()
}

func (e *executable) release() { e.main.Release() }

// Inputs returns the names and shapes of the parameters.
func (e *executable) Inputs() ([]string, []shapes.Shape) { return e.names, e.inputs }

// Outputs returns the shapes of the results.
func (e *executable) Outputs() []shapes.Shape { return e.outputs }

// Execute runs the graph. Results reuse the memory of donated inputs if the plan allows it.
func (e *executable) Execute(inputs []compute.Buffer, donate []bool, device compute.DeviceNum) ([]compute.Buffer, error) {
	if err := e.backend.checkUsable(device); err != nil {
		return nil, err
	}
	in, err := checkInputs(inputs, e.inputs)
	if err != nil {
		return nil, err
	}
	if err := e.fitsResults(donate); err != nil {
		release(in, nil)
		return nil, err
	}
	params := make([]unsafe.Pointer, len(in))
	for i, buf := range in {
		params[i] = buf.data
	}
	outs := make([]compute.Buffer, len(e.outputs))
	results := make([]unsafe.Pointer, len(e.outputs))
	for i, shape := range e.outputs {
		var out *buffer
		if d := e.main.Donors[i]; d >= 0 && donated(donate, d) {
			out = in[d].successor(shape)
		}
		if out == nil {
			out = e.backend.newBuffer(shape)
		}
		outs[i], results[i] = out, out.data
	}
	e.main.Execute(params, results, e.packed(in))
	release(in, donate)
	return outs, nil
}

// fitsResults returns an error if there is no memory for the results that could reuse parameters, but get none. The others are part of what
// was checked when the graph was compiled.
func (e *executable) fitsResults(donate []bool) error {
	bytes := 0
	for i, d := range e.main.Donors {
		if d >= 0 && !donated(donate, d) {
			bytes += int(e.outputs[i].ByteSize())
		}
	}
	return e.backend.fits("the results of a computation", bytes, 0)
}

func donated(donate []bool, param int) bool { return param < len(donate) && donate[param] }

// packed returns the memory of the operands that are packed from frozen buffers, nil for others.
func (e *executable) packed(in []*buffer) []unsafe.Pointer {
	var list []unsafe.Pointer
	for i := range e.main.Packings {
		p := &e.main.Packings[i]
		if buf := in[p.Param]; buf.frozen.Load() {
			if list == nil {
				list = make([]unsafe.Pointer, len(e.main.Packings))
			}
			list[i] = buf.packed(packingKey{p.Offset, p.Layout})
		}
	}
	return list
}

// compile makes the main function executable, on the portable backend if and only if it contains something without a kernel.
func (bd *builder) compile() (compute.Executable, error) {
	main, err := compile.Module(bd.module, bd.backend.machine)
	if missing := (ir.Unsupported{}); errors.As(err, &missing) {
		return bd.replay(missing.Error())
	}
	if err != nil {
		return nil, err
	}
	if err := bd.backend.fitsProgram(bd.module.Name, main); err != nil {
		return nil, err
	}
	f := bd.module.Main
	operations := operationsOf(f)
	main.Small = operations < small
	e := &executable{backend: bd.backend, main: main, names: make([]string, len(f.Params)), operations: operations}
	for i, p := range f.Params {
		e.names[i] = p.Attr.(*ir.ParamAttr).Name
	}
	e.inputs, e.outputs = shapesOf(f.Params), shapesOf(f.Results)
	bd.module.Forget()
	bd.backend.adopt(e)
	return e, nil
}

// small is the number of operations below which an execution wakes no sleeping threads. So many take about .1 ms, which is about the
// time to wake a thread.
const small = 8 << 20

// checkInputs returns an error unless the buffers fit the parameters. The caller must release them.
func checkInputs(inputs []compute.Buffer, want []shapes.Shape) ([]*buffer, error) {
	if len(inputs) != len(want) {
		return nil, fmt.Errorf("the computation takes %d inputs, got %d", len(want), len(inputs))
	}
	in := make([]*buffer, 0, len(inputs))
	for i, input := range inputs {
		buf, err := checkInput(input, want[i])
		if err != nil {
			release(in, nil)
			return nil, fmt.Errorf("input #%d %w", i, err)
		}
		in = append(in, buf)
	}
	return in, nil
}

func checkInput(input compute.Buffer, want shapes.Shape) (*buffer, error) {
	buf, ok := input.(*buffer)
	switch {
	case !ok || buf == nil:
		return nil, fmt.Errorf("is a %T, not a buffer of backend %q", input, BackendName)
	case !buf.shape.Equal(want):
		return nil, fmt.Errorf("has shape %s, want %s", buf.shape, want)
	case !buf.open():
		return nil, errors.New("was finalized or donated")
	}
	return buf, nil
}

// release ends the use of buffers by an execution, and finalizes donated ones.
func release(inputs []*buffer, donate []bool) {
	for i, buf := range inputs {
		if buf.readers.Load() != closed { // by successor
			buf.readers.Add(-1)
		}
		if donated(donate, i) {
			buf.Finalize()
		}
	}
}
