package decoding

import "github.com/gomlx/gomlx/core/tensors"

// FewGraphs makes a decoder compile few graphs, as it does where that takes long.
func (d *Decoder) FewGraphs() { d.fewGraphs = true }

// Rows is how many rows the tensors have.
func (c *Cached) Rows() int { return c.rows() }

// Chunks are the numbers of tokens of a prompt that are read at once.
func (d *Decoder) Chunks(tokens int) []int { return d.chunks(tokens) }

// NotShared makes a decoder gather all rows where it could copy some in place, as it does where tensors are not plain memory.
func (d *Decoder) NotShared() { d.shared = false }

// Memory is what so many sources take, with so many rows each.
func (d *Decoder) Memory(sources, perSource, source, limit int) float64 {
	return d.bytes(Rows(sources), perSource, source, limit)
}

// CallAll calls every graph without inputs and returns the errors.
func (d *Decoder) CallAll() map[string]error {
	errs := map[string]error{}
	for name, call := range map[string]func(...any) ([]*tensors.Tensor, error){
		"cacheSource": d.cacheSource.Call, "next": d.next.Call, "counted": d.counted.Call, "uncached": d.uncached.Call, "gather": d.gather.Call, "grow": d.grow.Call,
	} {
		_, errs[name] = call()
	}
	return errs
}
