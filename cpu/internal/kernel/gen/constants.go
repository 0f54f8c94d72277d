package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// bits32 and bits64 hold the bits of constants.
func bits32(name string) uint32 {
	switch name {
	case "sign":
		return 1 << 31
	case "magnitude":
		return 1<<31 - 1
	case "magic":
		return math.Float32bits(8388608 + 127)
	case "low16":
		return 1<<16 - 1
	}
	v, err := strconv.ParseFloat(name, 32)
	if err != nil {
		panic(err)
	}
	return math.Float32bits(float32(v))
}

func bits64(name string) uint64 {
	switch name {
	case "sign":
		return 1 << 63
	case "magnitude":
		return 1<<63 - 1
	case "magic":
		return math.Float64bits(4503599627370496 + 1023)
	}
	v, err := strconv.ParseFloat(name, 64)
	if err != nil {
		panic(err)
	}
	return math.Float64bits(v)
}

// write writes the table under a file-local name. Each constant fills a register.
func (c *constants) write(w io.Writer, table string, single bool, width int) {
	if len(c.names) == 0 {
		return
	}
	fmt.Fprintln(w)
	for i, name := range c.names {
		pattern := uint64(0)
		if single {
			pattern = uint64(bits32(name)) * (1<<32 + 1)
		} else {
			pattern = bits64(name)
		}
		for at := 0; at < width; at += 8 {
			comment := ""
			if at == 0 {
				comment = " // " + name
			}
			fmt.Fprintf(w, "DATA %s<>+%d(SB)/8, $0x%016x%s\n", table, i*width+at, pattern, comment)
		}
	}
	fmt.Fprintf(w, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", table, len(c.names)*width)
}
