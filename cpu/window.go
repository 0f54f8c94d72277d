package cpu

import (
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// argInstr finds the position of the smallest or largest element along an axis: outer x length x inner.
type argInstr struct {
	src                  denseIn
	dst                  int
	outer, length, inner int
	find                 func(a *argInstr, src, dst unsafe.Pointer)
	convert              kernel
	positions            int // slot of int64 positions
	isMin                bool
}

var argFinders = map[dtypes.DType]func(a *argInstr, src, dst unsafe.Pointer){
	dtypes.Float32: findArg[float32], dtypes.Float64: findArg[float64],
	dtypes.Int8: findArg[int8], dtypes.Int16: findArg[int16], dtypes.Int32: findArg[int32], dtypes.Int64: findArg[int64],
	dtypes.Uint8: findArg[uint8], dtypes.Uint16: findArg[uint16], dtypes.Uint32: findArg[uint32], dtypes.Uint64: findArg[uint64],
}

func (a *argInstr) run(fr *frame) {
	n := a.outer * a.inner
	if a.convert == nil {
		a.find(a, a.src.at(fr), fr.ptrs[a.dst])
		return
	}
	a.find(a, a.src.at(fr), fr.ptrs[a.positions])
	a.convert(fr.ptrs[a.dst], fr.ptrs[a.positions], nil, nil, 1, n)
}

// findArg takes the first of equals, and the first that is not a number before any other.
func findArg[T number](a *argInstr, src, dst unsafe.Pointer) {
	x := execSlice[T](src, a.outer*a.length*a.inner)
	d := execSlice[int64](dst, a.outer*a.inner)
	for o := range a.outer {
		for i := range a.inner {
			best, at := T(0), -1
			for l := range a.length {
				v := x[(o*a.length+l)*a.inner+i]
				if at < 0 || v != v || a.isMin && v < best || !a.isMin && v > best {
					best, at = v, l
				}
				if v != v {
					break
				}
			}
			d[o*a.inner+i] = int64(at)
		}
	}
}

// windowInstr reduces windows that move over the operand.
type windowInstr struct {
	src       denseIn
	dst       int
	in, out   []int // dimensions
	w         windowGeometry
	neutral   [8]byte
	size      int
	window    int // elements
	inStrides []int
	combine   kernel
}

// windowGeometry says which input positions a window covers, axis by axis.
type windowGeometry struct {
	size, stride, dilation, inputDilation, padding []int
}

// position returns where element k of the window at output o reads along an axis, and whether that is inside.
func (w *windowGeometry) position(axis, o, k, dim int) (int, bool) {
	p := o*w.stride[axis] + k*w.dilation[axis] - w.padding[axis]
	d := w.inputDilation[axis]
	return p / d, p >= 0 && p%d == 0 && p/d < dim
}

func (w *windowInstr) run(fr *frame) { fr.do(w) }

func (w *windowInstr) part(fr *frame, part, parts int) {
	lo, hi := split(execProduct(w.out), part, parts)
	rank := len(w.in)
	o, k := make([]int, rank), make([]int, rank)
	for i := lo; i < hi; i++ {
		unflatten(i, w.out, o)
		sum := w.neutral
		for j := range w.window {
			unflatten(j, w.w.size, k)
			if at, ok := w.locate(o, k); ok {
				w.combine(unsafe.Pointer(&sum), unsafe.Pointer(&sum), unsafe.Add(w.src.at(fr), at*w.size), nil, 1, 1)
			}
		}
		copyBytes(unsafe.Add(fr.ptrs[w.dst], i*w.size), unsafe.Pointer(&sum), w.size)
	}
}

func (w *windowInstr) locate(o, k []int) (int, bool) {
	at := 0
	for axis := range o {
		p, ok := w.w.position(axis, o[axis], k[axis], w.in[axis])
		if !ok {
			return 0, false
		}
		at += p * w.inStrides[axis]
	}
	return at, true
}

// convInstr is a direct convolution of any rank, grouping and dilation.
type convInstr struct {
	x, filter                      denseIn
	dst                            int
	axes                           compute.ConvolveAxesConfig
	channelGroups, batchGroups     int
	w                              windowGeometry
	xStrides, kStrides, outStrides []int
	xDims, kDims, outDims          []int
	compute                        func(c *convInstr, fr *frame, part, parts int)
}

var convolvers = map[dtypes.DType]func(c *convInstr, fr *frame, part, parts int){
	dtypes.Float32: convolve[float32], dtypes.Float64: convolve[float64],
	dtypes.Int8: convolve[int8], dtypes.Int16: convolve[int16], dtypes.Int32: convolve[int32], dtypes.Int64: convolve[int64],
	dtypes.Uint8: convolve[uint8], dtypes.Uint16: convolve[uint16], dtypes.Uint32: convolve[uint32], dtypes.Uint64: convolve[uint64],
}

func (c *convInstr) run(fr *frame) { fr.do(c) }

func (c *convInstr) part(fr *frame, part, parts int) { c.compute(c, fr, part, parts) }

// convolve computes out[b, o, s] = sum over k, w of x[b', g*K + k, s*stride + w*dilation - padding] * filter[k, o, w],
// where channel o belongs to group g.
func convolve[T number](c *convInstr, fr *frame, part, parts int) {
	axes := &c.axes
	x := execSlice[T](c.x.at(fr), execProduct(c.xDims))
	filter := execSlice[T](c.filter.at(fr), execProduct(c.kDims))
	out := execSlice[T](fr.ptrs[c.dst], execProduct(c.outDims))
	index := make([]int, len(c.outDims))
	w := make([]int, len(c.w.size))
	inputs := c.kDims[axes.KernelInputChannels]
	outputs := c.kDims[axes.KernelOutputChannels]
	batches := c.outDims[axes.OutputBatch]
	lo, hi := split(len(out), part, parts)
	for i := lo; i < hi; i++ {
		unflatten(i, c.outDims, index)
		o, b := index[axes.OutputChannels], index[axes.OutputBatch]
		if g := c.batchGroups; g > 1 {
			b += o / (outputs / g) * batches
		}
		firstChannel := 0
		if g := c.channelGroups; g > 1 {
			firstChannel = o / (outputs / g) * inputs
		}
		xBase := b*c.xStrides[axes.InputBatch] + firstChannel*c.xStrides[axes.InputChannels]
		kBase := o * c.kStrides[axes.KernelOutputChannels]
		var sum T
		for j := range execProduct(c.w.size) {
			unflatten(j, c.w.size, w)
			xAt, kAt, ok := c.locate(index, w)
			if !ok {
				continue
			}
			for k := range inputs {
				sum += x[xBase+xAt+k*c.xStrides[axes.InputChannels]] * filter[kBase+kAt+k*c.kStrides[axes.KernelInputChannels]]
			}
		}
		out[i] = sum
	}
}

// locate adds up the spatial axes for output position o and window element w.
func (c *convInstr) locate(o, w []int) (xAt, kAt int, ok bool) {
	axes := &c.axes
	for s := range w {
		p, inside := c.w.position(s, o[axes.OutputSpatial[s]], w[s], c.xDims[axes.InputSpatial[s]])
		if !inside {
			return 0, 0, false
		}
		xAt += p * c.xStrides[axes.InputSpatial[s]]
		kAt += w[s] * c.kStrides[axes.KernelSpatial[s]]
	}
	return xAt, kAt, true
}

// unflatten writes the indices of element i of a tensor with the given dimensions.
func unflatten(i int, dims, index []int) {
	for a := len(dims) - 1; a >= 0; a-- {
		index[a] = i % dims[a]
		i /= dims[a]
	}
}
