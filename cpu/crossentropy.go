package cpu

import "universal-transformer/cpu/internal/ir"

// CrossEntropyFunction is the beginning of the names of top-level functions that Call does not run as written, but as cross entropy of
// large vocabularies in blocks of rows and columns, so that the logits z = h w' never exist as a whole:
//
//	h [R, D], w [V, D], target [R] int32, a [R], b [R]  ->  truth [R], total [R], correct [R], dh [R, D], dw [V, D]
//
// truth is ln p(target), total the sum over all words v of ln p(v), and correct 1 if the target is the first word with the largest
// logit, otherwise 0; dh and dw are the gradients of the sum over the rows of a truth + b total. Rows with a = b = 0 are left out, and their
// results are 0. If the rest of the name begins with "columns", w and dw are [D, V]. Numbers are float32 or float64.
//
// The body of such a function must compute the same. It runs if a graph has something without kernels, and if types or shapes are
// different.
const CrossEntropyFunction = ir.CrossEntropyName
