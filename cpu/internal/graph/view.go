package graph

import "slices"

// A View describes where the elements of a value are in the memory of another one. Element (i0, i1, ...) is at offset + sum(i *
// strides), in elements of the base.
type View struct {
	Base    *Expr
	Offset  int
	Dims    []int
	Strides []int
}

// Contiguous returns the strides of row-major storage.
func Contiguous(dims []int) []int {
	strides := make([]int, len(dims))
	s := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = s
		s *= dims[i]
	}
	return strides
}

// Product returns the number of elements.
func Product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// IsDense reports whether the elements are consecutive and in order.
func (v View) IsDense() bool {
	s := 1
	for i := len(v.Dims) - 1; i >= 0; i-- {
		if v.Dims[i] != 1 && v.Strides[i] != s {
			return Product(v.Dims) == 0
		}
		s *= v.Dims[i]
	}
	return true
}

// Collapse removes axes of size one and joins adjacent axes that one stride covers.
func Collapse(dims, strides []int) (d, s []int) {
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

// reshape returns the view with new dimensions, or false if strides cannot express it.
func (v View) reshape(dims []int) (View, bool) {
	out := View{Base: v.Base, Offset: v.Offset, Dims: slices.Clone(dims), Strides: make([]int, len(dims))}
	if Product(dims) == 0 {
		return out, true
	}
	d, s := Collapse(v.Dims, v.Strides)
	k := len(d) - 1
	rest := 1 // remaining size of run k
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
			return View{}, false
		}
		out.Strides[i] = s[k] * step
		step *= dims[i]
		rest /= dims[i]
	}
	return out, true
}

// transpose permutes the axes: axis i of the result is axis permutation[i] of v.
func (v View) transpose(permutation []int) View {
	out := View{Base: v.Base, Offset: v.Offset, Dims: make([]int, len(v.Dims)), Strides: make([]int, len(v.Dims))}
	for i, p := range permutation {
		out.Dims[i], out.Strides[i] = v.Dims[p], v.Strides[p]
	}
	return out
}

// broadcast maps axis i of v to axes[i] of dims; the others repeat.
func (v View) broadcast(dims, axes []int) View {
	out := View{Base: v.Base, Offset: v.Offset, Dims: slices.Clone(dims), Strides: make([]int, len(dims))}
	for i, a := range axes {
		if v.Dims[i] == dims[a] {
			out.Strides[a] = v.Strides[i]
		}
	}
	for i, d := range dims {
		if d == 1 {
			out.Strides[i] = 0
		}
	}
	return out
}

// slice returns a box of v.
func (v View) slice(starts, dims, steps []int) View {
	out := View{Base: v.Base, Offset: v.Offset, Dims: slices.Clone(dims), Strides: make([]int, len(dims))}
	for i := range dims {
		if Product(dims) > 0 {
			out.Offset += starts[i] * v.Strides[i]
		}
		out.Strides[i] = v.Strides[i] * steps[i]
	}
	return out
}

// reverse reverses axes.
func (v View) reverse(axes []int) View {
	out := View{Base: v.Base, Offset: v.Offset, Dims: v.Dims, Strides: slices.Clone(v.Strides)}
	for _, a := range axes {
		if v.Dims[a] > 0 {
			out.Offset += (v.Dims[a] - 1) * v.Strides[a]
		}
		out.Strides[a] = -out.Strides[a]
	}
	return out
}
