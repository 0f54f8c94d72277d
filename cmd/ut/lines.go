package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const (
	maxLines    = 64                    // decoded together
	longestLine = 1 << 20               // bytes
	patience    = 50 * time.Millisecond // before lines that are there are answered without waiting for more
)

// input is a line of the standard input, or why there is none.
type input struct {
	text string
	err  error
}

// lineReader reads lines ahead, so that they can be taken together if they come fast and one by one if they come slowly.
type lineReader struct {
	lines chan input
	err   error // why lines was closed; io.EOF at the end of the input
}

func readLines(r io.Reader) *lineReader {
	l := &lineReader{lines: make(chan input, maxLines)}
	go func() {
		defer close(l.lines)
		buffered := bufio.NewReaderSize(r, 64<<10)
		if l.err = checkMark(buffered); l.err != nil {
			return
		}
		for l.err == nil {
			l.err = l.read(buffered)
		}
	}()
	return l
}

// checkMark passes over a byte order mark, and refuses that of another encoding.
func checkMark(r *bufio.Reader) error {
	start, _ := r.Peek(2) // what is shorter has no mark, and is read below
	if bytes.Equal(start, []byte("\xff\xfe")) || bytes.Equal(start, []byte("\xfe\xff")) {
		return fmt.Errorf("the standard input is UTF-16: convert it to UTF-8")
	}
	if bytes.Equal(start, []byte("\xef\xbb")) {
		if start, _ = r.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
			_, _ = r.Discard(3)
		}
	}
	return nil
}

// read sends one line, without its end. One that is too long is sent as an error at once, and the rest of it passed over.
func (l *lineReader) read(r *bufio.Reader) error {
	var text []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			text = append(text, part...)
			if tooLong = len(text) > longestLine+len("\r\n"); tooLong {
				l.lines <- input{err: fmt.Errorf("it is longer than %d bytes", longestLine)}
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !tooLong && (err == nil || len(text) > 0) {
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
			l.lines <- input{text: string(text)}
		}
		return err
	}
}

// next waits for a line and takes those that follow without delay, at most so many. What ends the input comes with its last lines.
func (l *lineReader) next(ctx context.Context, most int) (lines []input, err error) {
	var late <-chan time.Time // never, before there is a line
	for len(lines) < most {
		select {
		case line, ok := <-l.lines:
			if !ok {
				return lines, l.err
			}
			lines, late = append(lines, line), time.After(patience)
		case <-late:
			return lines, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return lines, nil
}

// isTerminal tells whether a person types what is read. Tests replace it.
var isTerminal = func(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// complaints counts the lines that cannot be answered.
type complaints struct {
	c      *cobra.Command
	byHand bool // somebody types, who reads what is wrong and types again
	lines  int  // that were read
	bad    int
}

func newComplaints(c *cobra.Command) complaints {
	return complaints{c: c, byHand: isTerminal(c.InOrStdin())}
}

// complain says what is wrong with a line; the next one may be good.
func (p *complaints) complain(line int, err error) {
	p.bad++
	p.c.PrintErrf("ut: line %d: %s\n", line, oneLine(err))
}

// skip holds the place of an answer, so that those of the others can be found by their lines.
func (p *complaints) skip() error {
	if p.byHand {
		return nil
	}
	_, err := io.WriteString(p.c.OutOrStdout(), "\n")
	return err
}

// end is an error if a line was bad and nobody was there to type another.
func (p *complaints) end() error {
	if p.bad == 0 || p.byHand {
		return nil
	}
	return fmt.Errorf("%d of %d lines could not be answered", p.bad, p.lines)
}
