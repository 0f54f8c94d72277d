// Package cpu is a compute backend for GoMLX that runs graphs on the cores of this machine at the speed of its vector
// units: a compute.Backend named "cpu", registered on import, in Go and the Go toolchain's assembler, without cgo.
//
//	import _ "universal-transformer/cpu"
//
//	backend, err := compute.NewWithConfig("cpu")            // best kernels, GOMAXPROCS threads
//	backend, err := compute.NewWithConfig("cpu:avx2,threads=1")
//
// The vector kernels need GOEXPERIMENT=simd when building for amd64; other builds run plain loops, with one line of
// warning that says so. AVX-512 is used where the processor has it, AVX2 otherwise.
//
// # What it does
//
// All operations that GoMLX's portable backend has, but for the fused ones listed below, on booleans, integers, float32
// and float64, forward and gradient; dynamic slices and their updates besides. Fused scaled dot-product attention and
// its gradient without bias or lengths, with causality or a mask.
//
// The same graph, threads and inputs give the same bits, alone or while other graphs run. Sums run in an order that
// depends on shapes and the number of threads only; a row of a product, or of attention, does not depend on what other
// rows hold, so a causal model is causal to the last bit.
//
// Where the interface leaves a choice: integer division by zero gives all bits set and its remainder the dividend;
// indices of gathers and slices are moved inside, scatters drop updates outside; random bits are those of the portable
// backend; optimization barriers keep nothing from being computed once instead of twice.
//
// # Products in bfloat16
//
// With products=bf16 the operands of float32 products are rounded to bfloat16, to nearest, ties to even, when they are packed;
// the sums stay float32, and so does everything else: weights, activations, gradients, what an optimizer keeps, softmax, norms.
// No graph changes. It is for training: products of fewer than 32 rows, columns or terms (least=N) stay float32, among them
// those of decoding one token after the other and a unit that halts, and so does attention. Numbers below the normal range
// count as zero. A row among others is then rounded while alone it is not; rows still do not depend on each other.
//
// AMX does such products where the processor has it and Linux grants it: 16 times the multiply-adds of float32. Otherwise
// AVX512_BF16 does, which on a Zen 4 core has twice those of float32, on a Sapphire Rapids core half of them; to use it
// where there is AMX, name avx512. Description names the kernels. Other processors refuse the option.
//
// # What it does not do
//
// Unsupported lists it. Half precision and packed integers have no kernels: a graph that holds one runs whole on the
// portable backend, in its sequential mode (its parallel one can lock up), and one line says which type was the cause.
// Fused softmax, layer normalisation, dense layers, GELU and projections are not offered: GoMLX differentiates the plain
// form anyway, so a backend that offers them computes both; the plain forms are fused here after differentiation.
// Quantized layers, complex numbers, FFT, batch normalisation as one operation, select-and-scatter, total-order
// comparisons, symbolic dimensions and several devices are refused by name: nothing in this module asks for them.
//
// # How it is layered
//
// Arrows point one way: cpu -> compile -> graph -> ir, and compile -> exec -> kernel. Below each name, what leaves it for the
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
// Beside them, internal/replay records a module on the portable backend. Each package says in its comment which file does
// what.
//
// Some decisions go through all of them. A fused group is a little program of kernels on tiles of about 2048 elements, whose
// intermediate values stay in the first cache. A product multiplies strips of the left operand where they lie with panels of
// the right one, packed from any strides. Attention keeps the scores of one head in the cache and hands the maximum and the
// sum of each row to the gradient, which computes the scores again. The threads spin while an execution lasts: waking a
// goroutine takes longer than most instructions. A part that its thread has not begun, because another process has the core,
// is done by the caller.
//
// A graph is handed to the portable backend for one reason only: an operation or a type in it has no kernel. Whatever else
// goes wrong while compiling is a mistake here, and Compile returns an error that says so.
//
// # Where the time of a training step goes
//
// From CPU profiles on one thread of a Sapphire Rapids core, float32, an encoder-decoder of six steps with eight heads
// (BenchmarkTraining). Width 128, filter 512, 32 sequences of 64: products 61 %, element-wise groups 19 %, attention 18 %;
// GoMLX and everything else below 2 %. Width 512, filter 2048, 8 sequences of 128: products 86 %, groups 7 %,
// attention 6 %. Inside products the inner loop takes 97 %; packing the rest.
//
// The inner loop alone, on operands in the first cache, does 97 % of the multiply-adds that the core's units can; products
// as they occur in training do 75 to 95 % of that, because operands and results of a megabyte and more come from and go
// to the last-level cache. Attention at width 128 is products of depth 16, for which the units are half idle, and
// exponentials. The element-wise groups are bound by the bytes that the gradient needs to be kept.
package cpu
