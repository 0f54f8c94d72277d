package cpu

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// node is one recorded operation: a line of the graph as GoMLX built it, before any rewriting.
type node struct {
	id     int // position in irFunction.nodes: inputs come before users
	fn     *irFunction
	op     compute.OpType
	inputs []*node
	shape  shapes.Shape // invalid for operations with several outputs
	attr   any          // the operation's parameters: one of the types below, or nil

	outputs []*node // operations with several outputs: one node of op opOutput for each
	index   int     // of an opOutput, or of a parameter: its position
}

// irModule is a recorded graph: a main function, from which all others are reached.
type irModule struct {
	name string
	main *irFunction
}

// irFunction is a list of operations: the main function, a named one that others call, or a closure with a parent.
type irFunction struct {
	module  *irModule
	name    string // empty for closures
	parent  *irFunction
	nodes   []*node
	params  []*node
	results []*node
}

// add appends an operation.
func (f *irFunction) add(op compute.OpType, shape shapes.Shape, attr any, inputs ...*node) *node {
	n := &node{id: len(f.nodes), fn: f, op: op, inputs: slices.Clone(inputs), shape: shape.Clone(), attr: attr}
	f.nodes = append(f.nodes, n)
	return n
}

// sees tells whether values of g may be used in f.
func (f *irFunction) sees(g *irFunction) bool {
	for s := f; s != nil; s = s.parent {
		if s == g {
			return true
		}
	}
	return false
}

// opOutput selects one result of an operation with several; its only input is that operation.
const opOutput = compute.OpTypeLast + 1

type (
	// paramAttr names a parameter.
	paramAttr struct{ name string }

	// constAttr holds the values of a constant, or of an operation evaluated at compile time.
	constAttr struct{ flat any }

	// sliceAttr is the box of a Slice.
	sliceAttr struct{ starts, limits, strides []int }

	// dotAttr says which axes of both operands are contracted and which are aligned.
	dotAttr struct {
		lhsContract, lhsBatch, rhsContract, rhsBatch []int
		config                                       compute.DotGeneralConfig
	}

	// argAttr is for ArgMinMax.
	argAttr struct {
		axis  int
		isMin bool
		dtype dtypes.DType
	}

	// gatherAttr: see compute.StandardOps.Gather.
	gatherAttr struct {
		indexVectorAxis                                            int
		offsetOutputAxes, collapsedSliceAxes, startIndexMap, sizes []int
		sorted                                                     bool
	}

	// scatterAttr: see compute.StandardOps.ScatterSum.
	scatterAttr struct {
		indexVectorAxis                                                int
		updateWindowAxes, insertedWindowAxes, scatterAxesToOperandAxes []int
		sorted, unique                                                 bool
	}

	// windowAttr is for ReduceWindow.
	windowAttr struct {
		reduction                                            compute.ReduceOpType
		dimensions, strides, inputDilations, windowDilations []int
		paddings                                             [][2]int
	}

	// convAttr is for ConvGeneral.
	convAttr struct {
		axes                               compute.ConvolveAxesConfig
		strides                            []int
		paddings                           [][2]int
		inputDilations, kernelDilations    []int
		channelGroupCount, batchGroupCount int
	}

	// sortAttr is for Sort; the comparator is a closure of 2N scalars.
	sortAttr struct {
		comparator *irFunction
		axis       int
		stable     bool
	}

	// callAttr holds the functions that Call, If (on true, on false) and While (condition, body) run.
	callAttr struct{ fns []*irFunction }

	// attentionAttr is for both halves of scaled dot-product attention.
	attentionAttr struct {
		layout  compute.AttentionAxesLayout
		scale   float64
		causal  bool
		hasMask bool
	}
)
