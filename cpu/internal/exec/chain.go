package exec

// A Chain runs several instructions block by block: each part has its share of the rows, and runs all instructions on a block of
// them before the next block. The results of an instruction are then still in the core's cache when the next one reads them, and the
// threads synchronize twice per chain instead of after every instruction.
//
// Instructions can be in a chain if they work row by row on tensors with the same number of rows: products with a right operand from
// before the chain, fused groups, attention (whose rows are those of a batch).
type Chain struct {
	Rows    int // of all tensors
	Unit    int // rows that must stay together
	Block   int // rows that run through all members at once
	Parts   int // of the members, too
	Members []Instruction
}

func (c *Chain) run(fr *frame) {
	for _, m := range c.Members {
		if p, ok := m.(*Fused); ok {
			p.begin(fr)
		}
	}
	fr.do((*chainPacker)(c), fr.prog.Machine.Threads)
	fr.do(c, c.Parts)
	for _, m := range c.Members {
		if p, ok := m.(*Fused); ok {
			p.end(fr)
		}
	}
}

// part runs the blocks of one part through all members.
func (c *Chain) part(fr *frame, mine share) {
	first, last := mine.of(c.Rows / c.Unit)
	end := last * c.Unit
	for lo := first * c.Unit; lo < end; lo += c.Block {
		hi := min(lo+c.Block, end)
		for _, m := range c.Members {
			switch x := m.(type) {
			case *Fused:
				each := x.Rows / c.Rows
				x.runRows(fr, mine, lo*each, hi*each)
			case *Dot:
				x.runRows(fr, mine, lo, hi)
			case *Attention:
				x.runHeads(fr, mine, lo/x.M*x.H, hi/x.M*x.H)
			}
		}
	}
}

// chainPacker packs the right operands of all products of a chain.
type chainPacker Chain

func (t *chainPacker) part(fr *frame, mine share) {
	for _, m := range t.Members {
		if d, ok := m.(*Dot); ok {
			d.packShare(fr, mine)
		}
	}
}
