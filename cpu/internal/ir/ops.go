package ir

import "github.com/gomlx/compute"

// UnaryMethods lists the element-wise operations with one operand.
var UnaryMethods = map[compute.OpType]func(compute.Function, compute.Value) (compute.Value, error){
	compute.OpTypeAbs:        compute.Function.Abs,
	compute.OpTypeBitCount:   compute.Function.BitCount,
	compute.OpTypeBitwiseNot: compute.Function.BitwiseNot,
	compute.OpTypeCeil:       compute.Function.Ceil,
	compute.OpTypeClz:        compute.Function.Clz,
	compute.OpTypeCos:        compute.Function.Cos,
	compute.OpTypeErf:        compute.Function.Erf,
	compute.OpTypeExp:        compute.Function.Exp,
	compute.OpTypeExpm1:      compute.Function.Expm1,
	compute.OpTypeFloor:      compute.Function.Floor,
	compute.OpTypeIsFinite:   compute.Function.IsFinite,
	compute.OpTypeLog:        compute.Function.Log,
	compute.OpTypeLog1p:      compute.Function.Log1p,
	compute.OpTypeLogicalNot: compute.Function.LogicalNot,
	compute.OpTypeLogistic:   compute.Function.Logistic,
	compute.OpTypeNeg:        compute.Function.Neg,
	compute.OpTypeRound:      compute.Function.Round,
	compute.OpTypeRsqrt:      compute.Function.Rsqrt,
	compute.OpTypeSign:       compute.Function.Sign,
	compute.OpTypeSin:        compute.Function.Sin,
	compute.OpTypeSqrt:       compute.Function.Sqrt,
	compute.OpTypeTanh:       compute.Function.Tanh,
	compute.OpTypeIsNaN:      compute.Function.IsNaN,
}

// BinaryMethods lists the element-wise operations with two operands and broadcasting.
var BinaryMethods = map[compute.OpType]func(compute.Function, compute.Value, compute.Value) (compute.Value, error){
	compute.OpTypeAdd:                  compute.Function.Add,
	compute.OpTypeAtan2:                compute.Function.Atan2,
	compute.OpTypeBitwiseAnd:           compute.Function.BitwiseAnd,
	compute.OpTypeBitwiseOr:            compute.Function.BitwiseOr,
	compute.OpTypeBitwiseXor:           compute.Function.BitwiseXor,
	compute.OpTypeDiv:                  compute.Function.Div,
	compute.OpTypeLogicalAnd:           compute.Function.LogicalAnd,
	compute.OpTypeLogicalOr:            compute.Function.LogicalOr,
	compute.OpTypeLogicalXor:           compute.Function.LogicalXor,
	compute.OpTypeMax:                  compute.Function.Max,
	compute.OpTypeMin:                  compute.Function.Min,
	compute.OpTypeMul:                  compute.Function.Mul,
	compute.OpTypePow:                  compute.Function.Pow,
	compute.OpTypeRem:                  compute.Function.Rem,
	compute.OpTypeShiftLeft:            compute.Function.ShiftLeft,
	compute.OpTypeShiftRightArithmetic: compute.Function.ShiftRightArithmetic,
	compute.OpTypeShiftRightLogical:    compute.Function.ShiftRightLogical,
	compute.OpTypeSub:                  compute.Function.Sub,
	compute.OpTypeEqual:                compute.Function.Equal,
	compute.OpTypeGreaterOrEqual:       compute.Function.GreaterOrEqual,
	compute.OpTypeGreaterThan:          compute.Function.GreaterThan,
	compute.OpTypeLessOrEqual:          compute.Function.LessOrEqual,
	compute.OpTypeLessThan:             compute.Function.LessThan,
	compute.OpTypeNotEqual:             compute.Function.NotEqual,
}

// ReduceOps maps the reductions over axes to the element-wise operations that they repeat.
var ReduceOps = map[compute.OpType]compute.OpType{
	compute.OpTypeReduceSum:        compute.OpTypeAdd,
	compute.OpTypeReduceProduct:    compute.OpTypeMul,
	compute.OpTypeReduceMax:        compute.OpTypeMax,
	compute.OpTypeReduceMin:        compute.OpTypeMin,
	compute.OpTypeReduceBitwiseAnd: compute.OpTypeBitwiseAnd,
	compute.OpTypeReduceBitwiseOr:  compute.OpTypeBitwiseOr,
	compute.OpTypeReduceBitwiseXor: compute.OpTypeBitwiseXor,
	compute.OpTypeReduceLogicalAnd: compute.OpTypeLogicalAnd,
	compute.OpTypeReduceLogicalOr:  compute.OpTypeLogicalOr,
	compute.OpTypeReduceLogicalXor: compute.OpTypeLogicalXor,
}
