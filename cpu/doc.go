// Package cpu is a compute backend for GoMLX that runs graphs on the CPU cores of this machine with vector kernels: a compute.Backend
// named "cpu", registered on import, in Go and the Go toolchain's assembler, without cgo.
//
//	import _ "universal-transformer/cpu"
//
//	backend, err := compute.NewWithConfig("cpu")            // best kernels, GOMAXPROCS threads
//	backend, err := compute.NewWithConfig("cpu:avx2,threads=1")
//
// The kernels are AVX-512 if the processor supports it, and AVX2 otherwise. ARM64 uses NEON, whose kernels are tested in an emulator and not
// measured on hardware. Other processors run plain loops (scalar), and a one-line warning says so.
//
// # Supported operations
//
// The package supports all operations of GoMLX's portable backend, except for the fused ones and the symbolic dimensions listed below, on
// booleans, integers, float32 and float64, forward and gradient. It also supports dynamic slices and their updates, and fused scaled
// dot-product attention and its gradient without options, with a mask, or causal.
//
// The same graph, inputs, kernels and number of threads give the same bits, also while other graphs run. The order of sums depends only on
// shapes and the number of threads. A row of a product, or of attention, does not depend on the values of other rows, so a causal model is
// causal to the last bit. The last bits of attention depend on whether there is one query, several, or from 64 queries and 513 keys on a
// block of them.
//
// Where the interface leaves a choice: integer division by zero returns all bits set, and its remainder the dividend; indices of gathers
// and slices are clamped, scatters drop updates outside; random bits are those of the portable backend; optimization barriers do not
// prevent common subexpressions from being computed only once.
//
// # Products in bfloat16
//
// With products=bf16 the operands of float32 matrix products are rounded to bfloat16, to nearest, ties to even, when they are packed.
// Sums stay in float32, and so do weights, activations, gradients, optimizer state, softmax, norms, attention and halting units. Graphs are
// unchanged. Products with fewer than 32 rows, columns or terms (least=N) stay in float32. A product by a parameter, which is one whose right
// operand is a parameter, may have fewer rows, as in decoding. A row of other products may thus be rounded in a large product and not alone,
// but rows still do not depend on each other. Subnormal numbers count as zero.
//
// AMX computes such products if the processor has it and Linux permits it, with 16 times the multiply-adds of float32. Otherwise
// AVX512_BF16 does, with twice those of float32 on a Zen 4 core, and half of them on a Sapphire Rapids core; to use it on a processor
// with AMX, specify avx512. Description names the kernels. On other processors the option is an error.
//
// # Products in int8
//
// With products=int8 the operands of float32 matrix products by a parameter are rounded to int8: each row of the left operand when it is
// multiplied, and each column of the parameter when it is packed. Both are rounded in blocks of 512 terms with a scale of their own, so that
// the largest magnitude of a block is 127. Sums of a block are exact. Products of two activations, products with batches or with fewer than 32
// columns or terms (least=N), attention.Core and halting units stay in float32.
//
// The option is for inference. The trainer of this module refuses it, and other programs can ask the method InferenceOnly. Buffers of
// parameters should be frozen with their method Freeze, because rounding them takes time.
//
// AVX512_VNNI computes such products, with twice the multiply-adds of AVX512_BF16 on a Zen 4 core. On processors with AMX, whose tiles of
// bfloat16 multiply more, products=bf16 may be faster; that was not measured. AVX2 adds up two products in 16 bits, so the largest magnitude of a
// block of a parameter's column is 63 there. On other processors the option is an error.
//
// # Unsupported operations
//
// See Unsupported and Replayed. Half precision, packed integers, select-and-scatter (the gradient of maximum and minimum pooling) and layers
// and embeddings quantized in GGML's formats have no kernels. A graph that contains one runs as a whole on the portable backend, in its
// sequential mode (its parallel mode can deadlock), and a one-line message names the operation or the type. Fused softmax, layer normalisation,
// dense layers, GELU and projections are not offered: GoMLX differentiates the plain form anyway, so a backend that offers them computes
// both; here the plain forms are fused after differentiation; so are layers quantized linearly or in NF4. Symbolic dimensions, which the
// portable backend has, and complex numbers, FFT, batch normalisation as one operation, total-order comparisons and several devices, which it
// has not either, are errors that name the operation: nothing in this module uses them.
//
// # Structure
//
// Dependencies point one way: cpu -> compile -> graph -> ir, and compile -> exec -> kernel. Below each name is what it passes on to the
// next.
//
//	cpu                 what GoMLX sees: Backend, buffers, and a builder that checks operations and records them
//	  | ir.Module
//	internal/ir         nodes in functions in a module, as recorded; what results depend on
//	  | ir.Function
//	internal/graph      equal operations become one, what rearranges elements a view, element-wise work fused groups
//	  | graph.Group
//	internal/compile    groups become instructions, values places in an arena, rows of several instructions one chain
//	  | exec.Program
//	internal/exec       walks the instructions with all threads, in memory that executions share
//	  | addresses and sizes
//	internal/kernel     tiles, panels and rows of scores: plain loops, vector kernels, and their generators in gen
//
// In addition, internal/replay replays a module on the portable backend. Each package comment describes its files.
//
// Some decisions concern all layers. A fused group is a small program of kernels on tiles of about 2048 elements, whose intermediate
// values stay in the L1 cache. A matrix product multiplies strips of the left operand, in place, with panels of the right one, packed
// from any strides. Attention keeps the scores of one head in the processor's cache or, from 64 queries and 513 keys on, a block of them. It
// passes the maximum and the sum of each row to the gradient, which recomputes the scores; see also AttentionFunction. Cross entropy of a large
// vocabulary computes logits and both gradients in blocks of rows and columns; see CrossEntropyFunction. The threads spin during an
// execution, because waking a goroutine takes longer than most instructions. Large instructions are split into four parts for each thread,
// and a thread that has finished its own parts takes those of others.
//
// A graph is passed on to the portable backend only if an operation or a type in it has no kernel. Any other failure of compilation is a
// bug in this package, and Compile returns an error that says so.
package cpu
