package table

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// lineLimit is the largest length of a line in bytes; longer ones are skipped without reading them into memory.
const lineLimit = 1 << 20

// largestFile is far above any file of this task; a larger file is probably a mistake.
const largestFile = 4 << 30

// A pair is one usable line.
type pair struct {
	hash           uint64   // of the source's text
	line           int      // in its file, from 1
	source, target []string // tokens; a side that will be split into subwords is one token
}

// held reports whether the pair is held out, if the given share of the sources is.
func (p pair) held(share float64) bool { return float64(p.hash)/(1<<64) < share }

// readFile reads all pairs of a file. It returns an error if the file is empty, or if none or fewer than half of its lines are usable.
func readFile(c Table, path string, report *Report) ([]pair, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	digest := sha256.New()
	part := FileReport{Path: path}
	pairs, err := parse(textfile.NewReader(io.TeeReader(f, digest), largestFile), c, &part)
	part.Digest = hex.EncodeToString(digest.Sum(nil))
	report.Files = append(report.Files, part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pairs, part.check()
}

// parse reads lines to the end of r, as specified by the resolved table c. Malformed lines go to the report; the error is that of the
// reader.
func parse(r io.Reader, c Table, report *FileReport) ([]pair, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var pairs []pair
	for {
		line, tooLong, err := readLine(lines)
		if err == io.EOF {
			return pairs, nil
		}
		if err != nil {
			return nil, err
		}
		report.Lines++
		if tooLong {
			report.malformed(fmt.Sprintf("longer than %d bytes", lineLimit))
			continue
		}
		p, err := parseLine(string(line), c)
		if err != nil {
			report.malformed(err.Error())
			continue
		}
		report.Usable++
		p.line = report.Lines
		pairs = append(pairs, p)
	}
}

// readLine reads one line without its line ending (LF, CRLF or the end of the file). It returns io.EOF after the last one.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for some := false; ; some = true {
		part, err := r.ReadSlice('\n')
		if err == io.EOF && !some && len(part) == 0 {
			return nil, false, io.EOF
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
		if tooLong = tooLong || len(line)+len(part) > lineLimit; !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			return bytes.TrimSuffix(line, []byte("\r")), tooLong, nil
		}
	}
}

// parseLine parses one line; the error says why it is malformed.
func parseLine(line string, c Table) (pair, error) {
	if line == "" {
		return pair{}, errors.New("the line is empty")
	}
	if strings.ContainsRune(line, 0) {
		return pair{}, errors.New("it has a NUL character")
	}
	source, target, found := strings.Cut(line, "\t")
	if !found {
		return pair{}, errors.New("no tab between source and target")
	}
	if strings.Contains(target, "\t") {
		return pair{}, errors.New("more than one tab")
	}
	var p pair
	var err error
	if p.source, err = tokens("source", source, c); err != nil {
		return pair{}, err
	}
	if p.target, err = tokens("target", target, c); err != nil {
		return pair{}, err
	}
	sum := sha256.Sum256([]byte(source))
	p.hash = binary.LittleEndian.Uint64(sum[:])
	return p, nil
}

func tokens(side, text string, c Table) ([]string, error) {
	split, err := c.split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", side, err)
	case len(split) == 0:
		return nil, fmt.Errorf("the %s is empty", side)
	case len(split) > c.MaxLength:
		return nil, fmt.Errorf("the %s has %d tokens, more than max_length %d", side, len(split), c.MaxLength)
	}
	for _, s := range split {
		if vocab.Reserved(s) && c.Tokenizer != vocab.Subwords {
			return nil, fmt.Errorf("the %s has the reserved token %s", side, s)
		}
	}
	return split, nil
}

// split splits one side of a line into tokens. With subwords, which are learned later, the whole side is one token.
func (c Table) split(text string) ([]string, error) {
	switch {
	case c.Tokenizer != vocab.Subwords:
		return c.Tokenizer.Split(text)
	case text == "":
		return nil, nil
	}
	return []string{text}, subword.CheckText(text)
}
