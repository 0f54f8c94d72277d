package babi

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// sparse is a file in an archive as GNU tar writes one with holes (PAX 1.0): it says that it has a size, and holds nothing but them.
func sparse(t *testing.T, name string, size int64) []byte {
	t.Helper()
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, fmt.Sprint("GNU.sparse.realsize=", size)} {
		length := len(r) + 4 // two digits, a space and a newline
		records += fmt.Sprintf("%d %s\n", length, r)
	}
	holes := fmt.Sprintf("1\n%d\n0\n", size) // one piece of data, at the end, of no bytes
	var b bytes.Buffer
	for _, part := range []struct {
		kind    byte
		content string
	}{{tar.TypeXHeader, records}, {tar.TypeReg, holes + strings.Repeat("\x00", 512-len(holes))}} {
		var one bytes.Buffer
		w := tar.NewWriter(&one)
		if err := w.WriteHeader(&tar.Header{Name: "sparse", Typeflag: tar.TypeReg, Size: int64(len(part.content)), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		block := one.Bytes()[:512]
		block[156] = part.kind
		copy(block[148:156], "        ")
		sum := 0
		for _, c := range block {
			sum += int(c)
		}
		copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
		b.Write(block)
		b.WriteString(part.content + strings.Repeat("\x00", (512-len(part.content)%512)%512))
	}
	return b.Bytes()
}

// Holes count as what they become in memory, by file and in all.
// Caught when planted: a limit on what headers say, one on the archive's own bytes alone.
func TestSparseArchive(t *testing.T) {
	one := sparse(t, "en/qa1_a_train.txt", 600)
	many := bytes.Join([][]byte{one, sparse(t, "en/qa2_a_train.txt", 600), sparse(t, "en/qa3_a_train.txt", 600)}, nil)
	for _, test := range []struct {
		archive     []byte
		file, limit int64
		want        string
	}{
		{one, 600, 600, ""}, {one, 599, 1 << 20, "en/qa1_a_train.txt has more than 599 bytes"}, {one, 1 << 20, 599, "more bytes than all of bAbI, at en/qa1_a_train.txt"},
		{many, 600, 1800, ""}, {many, 600, 1799, "more bytes than all of bAbI, at en/qa3_a_train.txt"}, {many[:len(many)-600], 600, 1800, "damaged or cut short"},
	} {
		d := &Distribution{path: "a.tar", found: map[file]content{}}
		err := d.readTar(&io.LimitedReader{R: bytes.NewReader(test.archive), N: 1 << 20}, test.file, test.limit)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d bytes, at most %d of %d: %v, want %q", len(test.archive), test.file, test.limit, err, test.want)
		}
		if c, ok := d.found[file{"en", 1, "train"}]; err == nil && (!ok || len(c.data) != 600) {
			t.Errorf("the file has %d bytes", len(c.data))
		}
	}
}
