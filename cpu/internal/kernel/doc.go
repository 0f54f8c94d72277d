// Package kernel computes on numbers in memory: tiles of elements, rows of attention scores, and panels of matrix
// products. It is given addresses and sizes, checks neither, and knows no graph, no threads and no memory of its own.
//
// A Set holds the kernels of one level of instructions (set.go): element-wise operations, reductions, conversions and moves
// on tiles (Func), the inner loops of matrix products (Gemm) and the parts of attention between products (Attention). A
// Matmul (gemm.go) is a product of strided matrices: it packs blocks of both operands where that pays (pack.go) and walks
// over them with the inner loop.
//
// Plain loops for every type are in portable.go, attention.go and gemm.go. On amd64, generated assembly replaces those of float32 and
// float64: kernels_amd64.s for tiles and attention, gemm_amd64.s for products, bfloat16_amd64.s and int8_amd64.s for products whose
// operands are rounded when they are packed (rounded.go, bfloat16.go, int8.go). On arm64, kernels_arm64.s does that for tiles, attention
// and products. The sources are in gen; after a change there,
//
//	go generate ./cpu/...
//
// writes them again. A test in gen fails while they differ.
package kernel

//go:generate go run ./gen .
