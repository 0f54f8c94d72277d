// Package ir is the intermediate representation of a graph as GoMLX records it. A module is a set of functions, a function a list of
// nodes, and a node one operation of the compute interface with the nodes that it reads and its attributes.
//
// The builder of package cpu writes it and has checked all shapes; it is not changed afterwards. Package graph reads it to optimize
// it, package replay to record it on another backend. live.go determines which nodes results depend on and what closures capture,
// ops.go which operations are element-wise, errors.go the errors of compiling a module.
package ir

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A Node is one recorded operation, as GoMLX built it, before any rewriting.
type Node struct {
	ID     int // index in Function.Nodes; inputs come before users
	Func   *Function
	Op     compute.OpType
	Inputs []*Node
	Shape  shapes.Shape // invalid for operations with several outputs
	Attr   any          // the operation's parameters: one of the types below, or nil

	Outputs []*Node // operations with several outputs: one node of op OpOutput for each
}

// A Module is a recorded graph: a main function, from which all others are reachable.
type Module struct {
	Name string
	Main *Function
}

// A Function is a list of operations: the main function, a named one that others call, or a closure with a parent.
type Function struct {
	Module  *Module
	Name    string // empty for closures
	Parent  *Function
	Nodes   []*Node
	Params  []*Node
	Results []*Node
}

// Add appends an operation.
func (f *Function) Add(op compute.OpType, shape shapes.Shape, attr any, inputs ...*Node) *Node {
	n := &Node{ID: len(f.Nodes), Func: f, Op: op, Inputs: slices.Clone(inputs), Shape: shape.Clone(), Attr: attr}
	f.Nodes = append(f.Nodes, n)
	return n
}

// Forget drops all operations of a compiled module. A caller that keeps a node, as GoMLX's graphs do, then only keeps its shape.
func (m *Module) Forget() { m.Main.forget() }

func (f *Function) forget() {
	nodes := f.Nodes
	f.Nodes, f.Params, f.Results, f.Parent = nil, nil, nil, nil
	for _, n := range nodes {
		for _, g := range functionsOf(n) {
			g.forget()
		}
		n.Inputs, n.Outputs, n.Attr = nil, nil, nil
	}
}

// Sees reports whether values of g may be used in f.
func (f *Function) Sees(g *Function) bool {
	for s := f; s != nil; s = s.Parent {
		if s == g {
			return true
		}
	}
	return false
}

// OpOutput selects one result of an operation with several, which is its only input.
const OpOutput = compute.OpTypeLast + 1

type (
	// ParamAttr names a parameter.
	ParamAttr struct{ Name string }

	// ConstAttr holds the values of a constant, or of an operation evaluated at compile time.
	ConstAttr struct{ Flat any }

	// SliceAttr is the box of a Slice.
	SliceAttr struct{ Starts, Limits, Strides []int }

	// DotAttr specifies the contracted and the batch axes of both operands.
	DotAttr struct {
		LHSContract, LHSBatch, RHSContract, RHSBatch []int
		Config                                       compute.DotGeneralConfig
	}

	// ArgAttr holds the parameters of ArgMinMax.
	ArgAttr struct {
		Axis  int
		IsMin bool
		DType dtypes.DType
	}

	// GatherAttr holds the parameters of compute.StandardOps.Gather.
	GatherAttr struct {
		IndexVectorAxis                                            int
		OffsetOutputAxes, CollapsedSliceAxes, StartIndexMap, Sizes []int
		Sorted                                                     bool
	}

	// ScatterAttr holds the parameters of compute.StandardOps.ScatterSum.
	ScatterAttr struct {
		IndexVectorAxis                                                int
		UpdateWindowAxes, InsertedWindowAxes, ScatterAxesToOperandAxes []int
		Sorted, Unique                                                 bool
	}

	// WindowAttr holds the parameters of ReduceWindow.
	WindowAttr struct {
		Reduction                                            compute.ReduceOpType
		Dimensions, Strides, InputDilations, WindowDilations []int
		Paddings                                             [][2]int
	}

	// ConvAttr holds the parameters of ConvGeneral.
	ConvAttr struct {
		Axes                               compute.ConvolveAxesConfig
		Strides                            []int
		Paddings                           [][2]int
		InputDilations, KernelDilations    []int
		ChannelGroupCount, BatchGroupCount int
	}

	// SortAttr holds the parameters of Sort; the comparator is a closure of 2N scalars.
	SortAttr struct {
		Comparator *Function
		Axis       int
		Stable     bool
	}

	// CallAttr holds the functions that Call, If (on true, on false) and While (condition, body) run.
	CallAttr struct{ Functions []*Function }

	// AttentionAttr holds the parameters of scaled dot-product attention and of its gradient.
	AttentionAttr struct {
		Layout  compute.AttentionAxesLayout
		Scale   float64
		Causal  bool
		HasMask bool
	}

	// ForeignAttr marks an operation without kernels. Record records it on another backend.
	ForeignAttr struct {
		Record func(to compute.Function, inputs []compute.Value) (compute.Value, error)
	}
)
