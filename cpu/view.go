package cpu

import "slices"

// view says where the elements of a value lie in the memory of another one.
// Element (i0, i1, ...) is at offset + sum(i * strides), in elements of the base.
type view struct {
	base    *expr
	offset  int
	dims    []int
	strides []int
}

// contiguous returns the strides of row-major storage.
func contiguous(dims []int) []int {
	strides := make([]int, len(dims))
	s := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = s
		s *= dims[i]
	}
	return strides
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// isDense tells whether the elements lie one after the other, in order.
func (v view) isDense() bool {
	s := 1
	for i := len(v.dims) - 1; i >= 0; i-- {
		if v.dims[i] != 1 && v.strides[i] != s {
			return product(v.dims) == 0
		}
		s *= v.dims[i]
	}
	return true
}

// collapse drops axes of size one and joins neighbours that one stride covers.
func collapse(dims, strides []int) (d, s []int) {
	for i := range dims {
		if dims[i] == 1 {
			continue
		}
		if k := len(d) - 1; k >= 0 && s[k] == strides[i]*dims[i] {
			d[k] *= dims[i]
			s[k] = strides[i]
			continue
		}
		d, s = append(d, dims[i]), append(s, strides[i])
	}
	return d, s
}

// reshape returns the view with new dimensions, and false if no strides can express it.
func (v view) reshape(dims []int) (view, bool) {
	out := view{base: v.base, offset: v.offset, dims: slices.Clone(dims), strides: make([]int, len(dims))}
	if product(dims) == 0 {
		return out, true
	}
	d, s := collapse(v.dims, v.strides)
	k := len(d) - 1
	rest := 1 // what is left of run k
	if k >= 0 {
		rest = d[k]
	}
	step := 1 // elements of run k already used by later axes
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == 1 {
			continue
		}
		if rest == 1 {
			k--
			rest, step = d[k], 1
		}
		if rest%dims[i] != 0 {
			return view{}, false
		}
		out.strides[i] = s[k] * step
		step *= dims[i]
		rest /= dims[i]
	}
	return out, true
}

// transpose permutes the axes: axis i of the result is axis permutation[i] of v.
func (v view) transpose(permutation []int) view {
	out := view{base: v.base, offset: v.offset, dims: make([]int, len(v.dims)), strides: make([]int, len(v.dims))}
	for i, p := range permutation {
		out.dims[i], out.strides[i] = v.dims[p], v.strides[p]
	}
	return out
}

// broadcast maps axis i of v to axes[i] of dims; the others repeat.
func (v view) broadcast(dims, axes []int) view {
	out := view{base: v.base, offset: v.offset, dims: slices.Clone(dims), strides: make([]int, len(dims))}
	for i, a := range axes {
		if v.dims[i] == dims[a] {
			out.strides[a] = v.strides[i]
		}
	}
	for i, d := range dims {
		if d == 1 {
			out.strides[i] = 0
		}
	}
	return out
}

// slice takes a box out of v.
func (v view) slice(starts, dims, steps []int) view {
	out := view{base: v.base, offset: v.offset, dims: slices.Clone(dims), strides: make([]int, len(dims))}
	for i := range dims {
		if product(dims) > 0 {
			out.offset += starts[i] * v.strides[i]
		}
		out.strides[i] = v.strides[i] * steps[i]
	}
	return out
}

// reverse turns axes around.
func (v view) reverse(axes []int) view {
	out := view{base: v.base, offset: v.offset, dims: v.dims, strides: slices.Clone(v.strides)}
	for _, a := range axes {
		if v.dims[a] > 0 {
			out.offset += (v.dims[a] - 1) * v.strides[a]
		}
		out.strides[a] = -out.strides[a]
	}
	return out
}
