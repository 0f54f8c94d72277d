package cpu

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
)

func (f *function) unary(op compute.OpType, x compute.Value) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.UnaryOp(op, in[0].Shape)
	if err != nil {
		return nil, err
	}
	return f.add(op, shape, nil, in...)
}

func (f *function) binary(op compute.OpType, x, y compute.Value) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x, y)
	if err != nil {
		return nil, err
	}
	infer := shapeinference.BinaryOp
	if shapeinference.ComparisonOperations.Has(op) {
		infer = shapeinference.ComparisonOp
	}
	shape, err := infer(op, in[0].Shape, in[1].Shape)
	if err != nil {
		return nil, err
	}
	return f.add(op, shape, nil, in...)
}

// IsNaN implements compute.StandardOps.
func (f *function) IsNaN(x compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeNotEqual, x, x)
}

// Abs implements compute.StandardOps.
func (f *function) Abs(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeAbs, x) }

// BitCount implements compute.StandardOps.
func (f *function) BitCount(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeBitCount, x)
}

// BitwiseNot implements compute.StandardOps.
func (f *function) BitwiseNot(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeBitwiseNot, x)
}

// Ceil implements compute.StandardOps.
func (f *function) Ceil(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeCeil, x)
}

// Clz implements compute.StandardOps.
func (f *function) Clz(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeClz, x) }

// Cos implements compute.StandardOps.
func (f *function) Cos(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeCos, x) }

// Erf implements compute.StandardOps.
func (f *function) Erf(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeErf, x) }

// Exp implements compute.StandardOps.
func (f *function) Exp(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeExp, x) }

// Expm1 implements compute.StandardOps.
func (f *function) Expm1(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeExpm1, x)
}

// Floor implements compute.StandardOps.
func (f *function) Floor(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeFloor, x)
}

// IsFinite implements compute.StandardOps.
func (f *function) IsFinite(x compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("IsFinite", x)
	if err != nil {
		return nil, err
	}
	if !in[0].Shape.DType.IsFloat() {
		return nil, fmt.Errorf("IsFinite needs a float, got %s", in[0].Shape)
	}
	shape := in[0].Shape.Clone()
	shape.DType = dtypes.Bool
	return f.add(compute.OpTypeIsFinite, shape, nil, in...)
}

// Log implements compute.StandardOps.
func (f *function) Log(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeLog, x) }

// Log1p implements compute.StandardOps.
func (f *function) Log1p(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLog1p, x)
}

// LogicalNot implements compute.StandardOps.
func (f *function) LogicalNot(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLogicalNot, x)
}

// Logistic implements compute.StandardOps.
func (f *function) Logistic(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLogistic, x)
}

// Neg implements compute.StandardOps.
func (f *function) Neg(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeNeg, x) }

// Round implements compute.StandardOps.
func (f *function) Round(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeRound, x)
}

// Rsqrt implements compute.StandardOps.
func (f *function) Rsqrt(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeRsqrt, x)
}

// Sign implements compute.StandardOps.
func (f *function) Sign(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeSign, x)
}

// Sin implements compute.StandardOps.
func (f *function) Sin(x compute.Value) (compute.Value, error) { return f.unary(compute.OpTypeSin, x) }

// Sqrt implements compute.StandardOps.
func (f *function) Sqrt(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeSqrt, x)
}

// Tanh implements compute.StandardOps.
func (f *function) Tanh(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeTanh, x)
}

// Add implements compute.StandardOps.
func (f *function) Add(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeAdd, x, y)
}

// Atan2 implements compute.StandardOps.
func (f *function) Atan2(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeAtan2, x, y)
}

// BitwiseAnd implements compute.StandardOps.
func (f *function) BitwiseAnd(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseAnd, x, y)
}

// BitwiseOr implements compute.StandardOps.
func (f *function) BitwiseOr(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseOr, x, y)
}

// BitwiseXor implements compute.StandardOps.
func (f *function) BitwiseXor(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseXor, x, y)
}

// Div implements compute.StandardOps.
func (f *function) Div(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeDiv, x, y)
}

// LogicalAnd implements compute.StandardOps.
func (f *function) LogicalAnd(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalAnd, x, y)
}

// LogicalOr implements compute.StandardOps.
func (f *function) LogicalOr(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalOr, x, y)
}

// LogicalXor implements compute.StandardOps.
func (f *function) LogicalXor(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalXor, x, y)
}

// Max implements compute.StandardOps.
func (f *function) Max(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMax, x, y)
}

// Min implements compute.StandardOps.
func (f *function) Min(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMin, x, y)
}

// Mul implements compute.StandardOps.
func (f *function) Mul(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMul, x, y)
}

// Pow implements compute.StandardOps.
func (f *function) Pow(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypePow, x, y)
}

// Rem implements compute.StandardOps.
func (f *function) Rem(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeRem, x, y)
}

// ShiftLeft implements compute.StandardOps.
func (f *function) ShiftLeft(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftLeft, x, y)
}

// ShiftRightArithmetic implements compute.StandardOps.
func (f *function) ShiftRightArithmetic(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftRightArithmetic, x, y)
}

// ShiftRightLogical implements compute.StandardOps.
func (f *function) ShiftRightLogical(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftRightLogical, x, y)
}

// Sub implements compute.StandardOps.
func (f *function) Sub(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeSub, x, y)
}

// Equal implements compute.StandardOps.
func (f *function) Equal(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeEqual, x, y)
}

// GreaterOrEqual implements compute.StandardOps.
func (f *function) GreaterOrEqual(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterOrEqual, x, y)
}

// GreaterThan implements compute.StandardOps.
func (f *function) GreaterThan(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterThan, x, y)
}

// LessOrEqual implements compute.StandardOps.
func (f *function) LessOrEqual(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessOrEqual, x, y)
}

// LessThan implements compute.StandardOps.
func (f *function) LessThan(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessThan, x, y)
}

// NotEqual implements compute.StandardOps.
func (f *function) NotEqual(x, y compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeNotEqual, x, y)
}
