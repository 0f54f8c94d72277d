package cpu

import "universal-transformer/cpu/internal/ir"

// AttentionFunction is the beginning of the names of top-level functions that Call does not run as written, but as attention in blocks of
// queries and keys, so that the scores of a head never exist as a whole. Attention of GoMLX is computed in this way by itself if there are
// many keys; the functions have what it lacks: dropout, and a last visible key for each query. B is the number of sequences, M of queries,
// N of keys, H of heads, D of the channels of a head:
//
//	forward   q [B, M, H, D], k [B, N, H, D], v [B, N, H, D]  ->  out [B, M, H, D], largest [B, H, M], inverse [B, H, M]
//	backward  the same, then out, largest, inverse, dOut [B, M, H, D]  ->  dq [B, M, H, D], dk [B, N, H, D], dv [B, N, H, D]
//
// out is w softmax(q k' / sqrt(D)) v; largest are the largest scores of the queries, inverse the inverses of the sums of
// exp(score - largest). The rest of the name lists, with commas between them, "forward" or "backward" and what the function has, up to a "#"
// and anything that makes the name unique:
//
//	causal   a query sees the keys up to its own position
//	keys     after v, a parameter [B, N] bool: the visible keys
//	last     after v, a parameter [B, M] int32: the last visible key of each query
//	dropout  then three parameters: rows [B, M, 2], columns [3, H, N] and numbers [4], which are -p, 1/p, r and f. The weight w of a
//	         probability is 0 if the residue of rows[0] columns[0] + rows[1] columns[1] + columns[2] modulo p, between -(p-1)/2 and
//	         (p-1)/2, is at most r, otherwise f. Keys are whole numbers below p, and p is so small that the sum is exact.
//
// Numbers are float32 or float64. Queries without visible keys have the result 0. The body of such a function must compute the same. It
// runs if a graph has something without kernels, and if types or shapes are different.
const AttentionFunction = ir.BlockAttentionName
