package exec

import (
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/kernel"
)

// ArgMinMax finds the position of the smallest or largest element along an axis: outer x length x inner.
type ArgMinMax struct {
	Src                  Operand
	Dst                  int
	Outer, Length, Inner int
	Find                 func(a *ArgMinMax, src, dst unsafe.Pointer)
	Convert              kernel.Func
	Positions            int // slot of int64 positions
	IsMin                bool
	Extreme              kernel.Func // of a row; nil unless the axis is the last
}

// ArgFinders are the loops of ArgMinMax by type.
var ArgFinders = map[dtypes.DType]func(a *ArgMinMax, src, dst unsafe.Pointer){
	dtypes.Float32: findArg[float32], dtypes.Float64: findArg[float64],
	dtypes.Int8: findArg[int8], dtypes.Int16: findArg[int16], dtypes.Int32: findArg[int32], dtypes.Int64: findArg[int64],
	dtypes.Uint8: findArg[uint8], dtypes.Uint16: findArg[uint16], dtypes.Uint32: findArg[uint32], dtypes.Uint64: findArg[uint64],
}

func (a *ArgMinMax) run(fr *frame) {
	n := a.Outer * a.Inner
	if a.Convert == nil {
		a.Find(a, a.Src.at(fr), fr.ptrs[a.Dst])
		return
	}
	a.Find(a, a.Src.at(fr), fr.ptrs[a.Positions])
	a.Convert(fr.ptrs[a.Dst], fr.ptrs[a.Positions], nil, nil, 1, n)
}

// findArg returns the first of equal elements. The first NaN precedes any other element.
func findArg[T kernel.Number](a *ArgMinMax, src, dst unsafe.Pointer) {
	x := slice[T](src, a.Outer*a.Length*a.Inner)
	d := slice[int64](dst, a.Outer*a.Inner)
	if a.Extreme != nil {
		for o := range d {
			d[o] = findExtreme(x[o*a.Length:(o+1)*a.Length], a.Extreme, unsafe.Pointer(&d[o]))
		}
		return
	}
	for o := range a.Outer {
		for i := range a.Inner {
			best, at := T(0), -1
			for l := range a.Length {
				v := x[(o*a.Length+l)*a.Inner+i]
				if at < 0 || v != v || a.IsMin && v < best || !a.IsMin && v > best {
					best, at = v, l
				}
				if v != v {
					break
				}
			}
			d[o*a.Inner+i] = int64(at)
		}
	}
}

// findExtreme returns the first element that equals the extreme one, or the first NaN. The caller provides the memory of the extreme
// element.
func findExtreme[T kernel.Number](row []T, extreme kernel.Func, memory unsafe.Pointer) int64 {
	extreme(memory, unsafe.Pointer(unsafe.SliceData(row)), nil, nil, 1, len(row))
	best := *(*T)(memory)
	for i, v := range row {
		if v == best || v != v {
			return int64(i)
		}
	}
	return -1
}

// ReduceWindow reduces moving windows of the operand.
type ReduceWindow struct {
	Src       Operand
	Dst       int
	In, Out   []int // dimensions
	Geometry  Window
	Neutral   [8]byte
	Size      int
	Window    int // elements
	InStrides []int
	Combine   kernel.Func
}

// A Window describes the input positions of a window on one axis.
type Window struct {
	Size, Stride, Dilation, InputDilation, Padding []int
}

// position returns the input position of element k of the window at output o along an axis, and whether it is inside.
func (w *Window) position(axis, o, k, dim int) (int, bool) {
	p := o*w.Stride[axis] + k*w.Dilation[axis] - w.Padding[axis]
	d := w.InputDilation[axis]
	return p / d, p >= 0 && p%d == 0 && p/d < dim
}

func (w *ReduceWindow) run(fr *frame) { fr.do(w, fr.prog.Machine.Parts()) }

func (w *ReduceWindow) part(fr *frame, mine share) {
	lo, hi := mine.of(product(w.Out))
	rank := len(w.In)
	o, k := make([]int, rank), make([]int, rank)
	for i := lo; i < hi; i++ {
		unflatten(i, w.Out, o)
		sum := w.Neutral
		for j := range w.Window {
			unflatten(j, w.Geometry.Size, k)
			if at, ok := w.locate(o, k); ok {
				w.Combine(unsafe.Pointer(&sum), unsafe.Pointer(&sum), unsafe.Add(w.Src.at(fr), at*w.Size), nil, 1, 1)
			}
		}
		copyBytes(unsafe.Add(fr.ptrs[w.Dst], i*w.Size), unsafe.Pointer(&sum), w.Size)
	}
}

func (w *ReduceWindow) locate(o, k []int) (int, bool) {
	at := 0
	for axis := range o {
		p, ok := w.Geometry.position(axis, o[axis], k[axis], w.In[axis])
		if !ok {
			return 0, false
		}
		at += p * w.InStrides[axis]
	}
	return at, true
}

// Convolution is a direct convolution of any rank, grouping and dilation.
type Convolution struct {
	X, Filter                      Operand
	Dst                            int
	Axes                           compute.ConvolveAxesConfig
	ChannelGroups, BatchGroups     int
	Geometry                       Window
	XStrides, KStrides, OutStrides []int
	XDims, KDims, OutDims          []int
	Compute                        func(c *Convolution, fr *frame, mine share)
}

// Convolvers are the loops of Convolution by type.
var Convolvers = map[dtypes.DType]func(c *Convolution, fr *frame, mine share){
	dtypes.Float32: convolve[float32], dtypes.Float64: convolve[float64],
	dtypes.Int8: convolve[int8], dtypes.Int16: convolve[int16], dtypes.Int32: convolve[int32], dtypes.Int64: convolve[int64],
	dtypes.Uint8: convolve[uint8], dtypes.Uint16: convolve[uint16], dtypes.Uint32: convolve[uint32], dtypes.Uint64: convolve[uint64],
}

func (c *Convolution) run(fr *frame) { fr.do(c, fr.prog.Machine.Parts()) }

func (c *Convolution) part(fr *frame, mine share) { c.Compute(c, fr, mine) }

// convolve computes out[b, o, s] = sum over k, w of x[b', g*K + k, s*stride + w*dilation - padding] * filter[k, o, w],
// where channel o belongs to group g.
func convolve[T kernel.Number](c *Convolution, fr *frame, mine share) {
	axes := &c.Axes
	x := slice[T](c.X.at(fr), product(c.XDims))
	filter := slice[T](c.Filter.at(fr), product(c.KDims))
	out := slice[T](fr.ptrs[c.Dst], product(c.OutDims))
	index := make([]int, len(c.OutDims))
	w := make([]int, len(c.Geometry.Size))
	inputs := c.KDims[axes.KernelInputChannels]
	outputs := c.KDims[axes.KernelOutputChannels]
	batches := c.OutDims[axes.OutputBatch]
	lo, hi := mine.of(len(out))
	for i := lo; i < hi; i++ {
		unflatten(i, c.OutDims, index)
		o, b := index[axes.OutputChannels], index[axes.OutputBatch]
		if g := c.BatchGroups; g > 1 {
			b += o / (outputs / g) * batches
		}
		firstChannel := 0
		if g := c.ChannelGroups; g > 1 {
			firstChannel = o / (outputs / g) * inputs
		}
		xBase := b*c.XStrides[axes.InputBatch] + firstChannel*c.XStrides[axes.InputChannels]
		kBase := o * c.KStrides[axes.KernelOutputChannels]
		var sum T
		for j := range product(c.Geometry.Size) {
			unflatten(j, c.Geometry.Size, w)
			xAt, kAt, ok := c.locate(index, w)
			if !ok {
				continue
			}
			for k := range inputs {
				sum += x[xBase+xAt+k*c.XStrides[axes.InputChannels]] * filter[kBase+kAt+k*c.KStrides[axes.KernelInputChannels]]
			}
		}
		out[i] = sum
	}
}

// locate sums the spatial axes for output position o and window element w.
func (c *Convolution) locate(o, w []int) (xAt, kAt int, ok bool) {
	axes := &c.Axes
	for s := range w {
		p, inside := c.Geometry.position(s, o[axes.OutputSpatial[s]], w[s], c.XDims[axes.InputSpatial[s]])
		if !inside {
			return 0, 0, false
		}
		xAt += p * c.XStrides[axes.InputSpatial[s]]
		kAt += w[s] * c.KStrides[axes.KernelSpatial[s]]
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
