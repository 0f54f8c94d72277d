//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
)

// sparse is an archive of a file that is nothing but a hole, as GNU tar writes it (PAX 1.0).
func sparse(name string, size int64) string {
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, fmt.Sprint("GNU.sparse.realsize=", size)} {
		records += fmt.Sprintf("%d %s\n", len(r)+len("00 \n"), r)
	}
	holes := fmt.Sprintf("1\n%d\n0\n", size)
	return entry(tar.TypeXHeader, "sparse", int64(len(records)), records) + entry(tar.TypeReg, "sparse", 512, holes)
}

// declared is an archive that says that it has a large file, and ends.
func declared(name string, size int64) string {
	return entry(tar.TypeReg, name, size, "Mary went to the office.")
}

// entry is a header and its content, filled up to a block.
func entry(kind byte, name string, size int64, content string) string {
	var b bytes.Buffer
	must(tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}))
	block := b.Bytes()[:512]
	block[156] = kind
	copy(block[148:156], "        ")
	sum := 0
	for _, c := range block {
		sum += int(c)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return string(block) + content + strings.Repeat("\x00", (512-len(content)%512)%512)
}
