//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
)

// sparse returns an archive with a file that consists of a hole, as written by GNU tar (PAX 1.0).
func sparse(name string, size int64) string {
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, fmt.Sprint("GNU.sparse.realsize=", size)} {
		records += fmt.Sprintf("%d %s\n", len(r)+len("00 \n"), r)
	}
	holes := fmt.Sprintf("1\n%d\n0\n", size)
	return entry(tar.TypeXHeader, "sparse", int64(len(records)), records) + entry(tar.TypeReg, "sparse", 512, holes)
}

// declared returns an archive whose header declares a large file, and which ends after it.
func declared(name string, size int64) string {
	return entry(tar.TypeReg, name, size, "Mary went to the office.")
}

// entry returns a header and its content, padded to a whole block.
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
