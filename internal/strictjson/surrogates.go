package strictjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// surrogates returns an error if valid JSON has half of a surrogate pair, such as "\ud800", which encoding/json replaces by U+FFFD.
func surrogates(data []byte) error {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' { // occurs in texts only
			continue
		}
		r, ok := escaped(data[i:])
		if !ok {
			i++ // the character after the backslash
			continue
		}
		if utf16.IsSurrogate(r) {
			second, _ := escaped(data[min(i+escapeLength, len(data)):])
			if utf16.DecodeRune(r, second) == utf8.RuneError {
				return placed(place(data, int64(i)), "%s is half of a surrogate pair: write the character itself", data[i:i+escapeLength])
			}
			i += escapeLength
		}
		i += escapeLength - 1
	}
	return nil
}

// escapeLength is the length of \u0000.
const escapeLength = 6

// escaped returns the value of an escape \u0000 at the start of data.
func escaped(data []byte) (rune, bool) {
	if len(data) < escapeLength || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(data[2:escapeLength]), 16, 16)
	return rune(n), err == nil
}
