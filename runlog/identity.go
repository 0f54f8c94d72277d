package runlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// maxDigestOffset is the number of bytes of a checkpoint in which Identity looks for the digest. It is in the metadata, at the beginning.
const maxDigestOffset = 1 << 20

// Identity returns a text that distinguishes the file of a checkpoint from others, also from those of the same step in another run: the
// digest that it states, its size, and when it was modified. It does not verify the digest, so that it is cheap for large files. It is ""
// if there is no such file.
func (r *Run) Identity(step int64) (string, error) {
	f, err := open(r.CheckpointPath(step))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	begin, err := io.ReadAll(io.LimitReader(f, maxDigestOffset))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d bytes, %v", statedDigest(begin), info.Size(), info.ModTime().UnixNano()), nil
}

// statedDigest returns the digest in the header of a checkpoint, of which only the beginning is given, or "" if it has none.
func statedDigest(begin []byte) string {
	if len(begin) < 8 {
		return ""
	}
	header := begin[8:]
	header = header[:min(binary.LittleEndian.Uint64(begin), uint64(len(header)))]
	_, after, _ := bytes.Cut(header, []byte(`"`+sha256Key+`":"`))
	return string(after[:min(len(noDigest), len(after))])
}
