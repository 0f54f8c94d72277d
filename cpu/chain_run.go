package cpu

// A chain runs several instructions block by block: each thread takes its share of the rows, and a block of them
// through all instructions before the next block. What one instruction writes is still in the core's cache when the
// next reads it, and the threads meet twice for the whole chain instead of after every instruction.
//
// Instructions can be in a chain if they work row by row on tensors that all have the same number of rows: products
// with a right operand from before the chain, fused groups, attention (whose rows are those of a batch).
type chain struct {
	rows    int // of all tensors
	unit    int // rows that must stay together
	block   int // rows that run through all members at once
	members []instr
}

func (c *chain) run(fr *frame) {
	for _, m := range c.members {
		if p, ok := m.(*rowProgram); ok {
			p.begin(fr)
		}
	}
	fr.do((*chainPacker)(c))
	fr.do(c)
	for _, m := range c.members {
		if p, ok := m.(*rowProgram); ok {
			p.end(fr)
		}
	}
}

// part takes the blocks of one thread through all members.
func (c *chain) part(fr *frame, part, parts int) {
	first, last := split(c.rows/c.unit, part, parts)
	end := last * c.unit
	for lo := first * c.unit; lo < end; lo += c.block {
		hi := min(lo+c.block, end)
		for _, m := range c.members {
			switch x := m.(type) {
			case *rowProgram:
				each := x.rows / c.rows
				x.runRows(fr, part, lo*each, hi*each)
			case *dotInstr:
				x.runRows(fr, part, lo, hi)
			case *attentionInstr:
				x.runHeads(fr, part, lo/x.m*x.h, hi/x.m*x.h)
			}
		}
	}
}

// chainPacker packs the right operands of all products of a chain.
type chainPacker chain

func (t *chainPacker) part(fr *frame, part, parts int) {
	for _, m := range t.members {
		if d, ok := m.(*dotInstr); ok {
			d.packShare(fr, part, parts)
		}
	}
}
