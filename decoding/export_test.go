package decoding

// FewGraphs makes a decoder compile few graphs, as it does where that takes long.
func (d *Decoder) FewGraphs() { d.fewGraphs = true }

// Rows is how many rows the tensors have.
func (c *Cached) Rows() int { return c.rows() }

// Chunk is how many of the tokens that are left of a prompt are read at once.
func (d *Decoder) Chunk(left int) int { return d.chunk(left) }

// NotShared makes a decoder gather all rows where it could copy some in place, as it does where tensors are not plain memory.
func (d *Decoder) NotShared() { d.shared = false }
