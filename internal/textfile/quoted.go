package textfile

import (
	"runtime"
	"strings"
	"unicode"
)

// Quoted returns a path as an argument of a command that a message proposes, in quotes of the system's shell if it needs them.
func Quoted(path string) string { return quotedFor(path, runtime.GOOS) }

func quotedFor(path, goos string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
	}
	switch {
	case path != "" && !strings.ContainsFunc(path, special):
		return path
	case goos == "windows":
		return `"` + strings.ReplaceAll(path, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
