package kernel

// PaysToReadDirectly reports whether b can be read in place, except for its last columns if it has many, and has so few rows to be
// multiplied with that packing would cost more than it saves.
func (g *Matmul) PaysToReadDirectly() bool {
	few := g.M <= g.Kernel.directRows
	many := g.BN == g.Kernel.size && g.N >= 4*g.Kernel.NR && !g.Kernel.Rounds()
	return few && (many || g.CanReadDirectly())
}

// ReadRight chooses how b is read: in place, packed by Multiply, or packed before. few: each panel is used once or a few times by one thread. rows of
// c are computed together. If a is transposed, sums are long and rows few, as in gradients of weights.
func (g *Matmul) ReadRight(few bool, rows int) {
	switch {
	case (few || g.Transposed()) && g.PaysToReadDirectly():
		g.Reading = InPlace
	case g.PaysToPackLate(rows):
		g.Reading = Late
	default:
		g.Reading = Packed
	}
}

// ReadWhole chooses to read b in place if its rows consist of whole vectors.
func (g *Matmul) ReadWhole() {
	if g.CanReadDirectly() {
		g.Reading = InPlace
	}
}

// PaysToPackLate reports whether Multiply should pack the panels of b, if so many rows of c are computed together. A packed panel is then still in a
// cache when it is multiplied. Products of more rows would pack each panel for each block of rows, and few rows do not make up for the packing.
func (g *Matmul) PaysToPackLate(rows int) bool {
	const least = 128
	return g.CanPackLate() && g.Transposed() && g.M <= g.Kernel.lateRows && rows >= least
}

// CanPackLate reports whether Multiply can pack the panels of b.
func (g *Matmul) CanPackLate() bool {
	return g.BN == g.Kernel.size && g.Kernel.packRows != nil && !g.Kernel.Rounds()
}

// farApart is the distance of terms, in bytes, beyond which their lines displace each other from every cache close to a processor.
const farApart = 8192

// PaysToPackA reports whether strips of a should be copied before they are multiplied: its terms are apart, and columns of b are many. If the rows
// of a lie side by side, a line of the cache has a term of all rows of a strip. Copying such strips pays if they are multiplied with four panels or
// more, and the lines of different terms displace each other, which depends on the kernel, or in any case if they are far apart.
//
// Rows whose distance is a multiple of 2 KB share lines of the cache: a strip of twelve rows displaces itself in a cache of eight ways, and a block
// of rows uses a part of the next cache only. Copying them pays if they are multiplied with many columns.
func (g *Matmul) PaysToPackA() bool {
	const many = 1024 // bytes of columns
	kr := g.Kernel
	near := g.ARow == kr.size && (g.AK <= kr.nearTerms || g.AK <= farApart && g.N < 4*kr.NR)
	return g.Transposed() && !near || g.collide() && g.M > kr.MR && g.N*kr.size >= many
}
