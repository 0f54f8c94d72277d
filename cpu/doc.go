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
// Recording. builder*.go checks operations and keeps them as nodes (ir.go); replay.go writes nodes to another backend.
//
// Compiling. simplify.go rewrites nodes to a graph (graph.go) in which equal operations are one and everything that only
// rearranges elements is a view (view.go): strides that the consumer reads, never a copy. fuse.go puts element-wise
// operations and reductions over rows, columns or everything into groups; recompute.go lets a group compute again what
// is cheaper to compute than to read. lower_*.go turn groups and other operations into instructions; chain.go joins
// instructions that work on the same rows; plan.go gives every value a place in an arena by liveness, a result over a
// dying operand where they are read and written in step, and donated inputs to results: a cache that is given away and updated
// is written where it lies.
//
// Running. program.go walks the instructions. A fused group (rowprogram.go) is a little program of kernels on tiles of
// about 2048 elements, whose intermediate values stay in the first cache. A product (gemm.go, lower_dot.go) multiplies
// strips of the left operand where they lie with panels of the right one, packed from any strides. Attention
// (attention*.go) keeps the scores of one head in the cache and hands the maximum and the sum of each row to the
// gradient, which computes the scores again. The threads (pool.go) spin while an execution lasts: waking a goroutine
// takes longer than most instructions. A part that its thread has not begun, because another process has the core, is done
// by the caller.
//
// Kernels. kernels_portable.go has them all, for every type; generated files replace those of float32 and float64
// (gen_kernels.go, with simd/archsimd) and the inner loops of products (gen_gemm.go, assembly: from Go the compiler
// reaches about 55 % of the multiply-add rate of a processor with two 512-bit units).
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
