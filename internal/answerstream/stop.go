package answerstream

import "strings"

// FirstOf returns where the first of some texts begins in a text, or -1.
func FirstOf(texts []string, in string) int {
	first := -1
	for _, text := range texts {
		if i := strings.Index(in, text); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// stopper ends a text, which comes in pieces, before the first of some texts.
type stopper struct {
	stops   []string
	held    string // may be the beginning of one of them
	stopped bool
}

// add returns what can be shown of the text after another piece.
func (s *stopper) add(piece string) string {
	if s.stopped {
		return ""
	}
	text := s.held + piece
	begins := len(text) // the first place where a stop may begin that the next piece completes
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(text)); n > len(text)-begins; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				begins = len(text) - n
			}
		}
	}
	if end := FirstOf(s.stops, text); end >= 0 && end <= begins {
		s.held, s.stopped = "", true
		return text[:end]
	}
	s.held = text[begins:]
	return text[:begins]
}

// rest returns what was held back when the text ends.
func (s *stopper) rest() string {
	held := s.held
	s.held = ""
	if end := FirstOf(s.stops, held); end >= 0 {
		s.stopped = true
		return held[:end]
	}
	return held
}
