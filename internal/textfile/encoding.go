package textfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Encoding recognizes UTF-16 and UTF-32 by the first bytes of a text: by the byte order mark, or by zero bytes at every second place. The
// result is the name that iconv knows; it is empty for other text.
func Encoding(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return "UTF-32"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16"
	}
	head = head[:len(head)/2*2]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(head) / 2; {
	case half < 2:
	case zeros[0] == 0 && zeros[1] > half*2/3:
		return "UTF-16LE"
	case zeros[1] == 0 && zeros[0] > half*2/3:
		return "UTF-16BE"
	}
	return ""
}

// Invalid returns the index of the first byte that is not UTF-8, or -1.
func Invalid[T string | []byte](text T) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(string(text[at:min(at+utf8.UTFMax, len(text))]))
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// EncodingError is the error for a file that is not UTF-8. It ends with the command that converts the file. An empty encoding means that
// it is unknown; the command then assumes Windows-1252, which contains Latin-1.
func EncodingError(path, encoding string) error {
	if encoding == "" {
		return withCommand("convert the file to UTF-8, from Windows-1252 for instance, with: %s", iconv(path, "WINDOWS-1252"))
	}
	return withCommand("it is %s: convert it to UTF-8 with: %s", encoding, iconv(path, encoding))
}

// iconv returns the command that converts a file, which may be compressed.
func iconv(path, from string) string {
	return Convert(path, fmt.Sprintf("iconv -f %s -t UTF-8", from), ".utf8")
}

// Convert returns the shell command that sends a file, which may be compressed, through a filter into a file whose name has a mark before
// its extension.
func Convert(path, filter, mark string) string { return convert(path, filter, mark, "") }

// convert is like Convert; the new file has another extension, unless that is empty. It is never the file itself, which the shell would
// empty first, whatever the case of its name.
func convert(path, filter, mark, other string) string {
	plain, read := path, filter+" < "+Quoted(path)
	for extension, command := range map[string]string{".gz": "gzip", ".xz": "xz"} {
		if name, ok := strings.CutSuffix(path, extension); ok {
			plain, read = name, fmt.Sprintf("%s -dc %s | %s", command, Quoted(path), filter)
		}
	}
	extension := filepath.Ext(plain)
	stem, other := strings.TrimSuffix(plain, extension)+mark, cmp.Or(other, extension)
	if strings.EqualFold(stem+other, path) {
		stem += ".new"
	}
	return read + " > " + Quoted(stem+other)
}

// DamagedError is the error for a compressed file that cannot be decompressed to its end. It ends with the command that decompresses what
// can be read; command is gzip or xz.
func DamagedError(path, command string, err error) error {
	into := strings.TrimSuffix(path, filepath.Ext(path))
	if into == path {
		into += ".txt"
	}
	damaged := withCommand("the compressed data are damaged, cut off or followed by others (%w): get the file again, or keep what can be read with: %s -dc %s > %s",
		err, command, Quoted(path), Quoted(into))
	damaged.fails = true
	return damaged
}

// A commandError is an error that ends with the shell command that writes a repaired copy of a file.
type commandError struct {
	error
	fails bool // the command writes the copy and reports an error
}

func (e *commandError) Unwrap() error { return e.error }

func withCommand(format string, args ...any) *commandError {
	return &commandError{error: fmt.Errorf(format, args...)}
}

// InFolder adds to the error for a file of a folder whose files are all read, if it ends with a command that writes a repaired copy, that
// the file is then renamed: its copy is read in its place. A renamed file is no text of the folder, and nothing is lost.
func InFolder(path string, err error) error {
	var repair *commandError
	if !errors.As(err, &repair) {
		return err
	}
	then := "&&"
	if repair.fails {
		then = ";"
	}
	return fmt.Errorf("%w %s mv %s %s", err, then, Quoted(path), Quoted(path+".old"))
}
