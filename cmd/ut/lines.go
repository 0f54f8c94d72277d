package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

const (
	maxLines    = 64                    // in a batch
	maxLineSize = 1 << 20               // bytes
	patience    = 50 * time.Millisecond // wait for further lines of a batch
)

// input is a line of the standard input, or the error of reading it.
type input struct {
	text string
	err  error
}

// lineReader reads lines ahead, so that lines that arrive quickly form a batch, and others are answered immediately.
type lineReader struct {
	lines chan input
	err   error // the reason why lines was closed; io.EOF at the end of the input
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

// checkMark skips the byte order mark of UTF-8 and rejects that of UTF-16.
func checkMark(r *bufio.Reader) error {
	start, _ := r.Peek(2) // shorter input has no mark
	if bytes.Equal(start, []byte("\xff\xfe")) || bytes.Equal(start, []byte("\xfe\xff")) {
		return fmt.Errorf("the standard input is UTF-16: convert it to UTF-8 with: iconv -f UTF-16 -t UTF-8 FILE")
	}
	if bytes.Equal(start, []byte("\xef\xbb")) {
		if start, _ = r.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
			_, _ = r.Discard(3)
		}
	}
	return nil
}

// read sends one line, without its end. A line that is too long is sent as an error, and the rest of it is skipped.
func (l *lineReader) read(r *bufio.Reader) error {
	var text []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			text = append(text, part...)
			if tooLong = len(text) > maxLineSize+len("\r\n"); tooLong {
				l.lines <- input{err: fmt.Errorf("longer than %d bytes", maxLineSize)}
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

// next waits for a line and returns it with those that follow without delay, at most limit lines. The last lines come with the error that
// ended the input.
func (l *lineReader) next(ctx context.Context, limit int) (lines []input, err error) {
	var late <-chan time.Time // nil, and so never ready, before the first line
	for len(lines) < limit {
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

// isTerminal reports whether the input is typed by a person. Tests replace it.
var isTerminal = func(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// writesTerminal reports whether a person sees the output. Tests replace it.
var writesTerminal = func(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// badLines reports and counts the lines that cannot be answered.
type badLines struct {
	c      *cobra.Command
	byHand bool // a person types the input and can repeat a line
	long   bool // a line that is much longer than those of training has been reported
	lines  int  // lines read
	count  int  // lines that could not be answered
	wanted int  // best answers to a line; 0: one
	fewer  int  // lines that have fewer
}

func newBadLines(c *cobra.Command) badLines {
	return badLines{c: c, byHand: isTerminal(c.InOrStdin())}
}

// report reports the error of a line.
func (p *badLines) report(line int, err error) {
	p.count++
	p.c.PrintErrf("ut: line %d: %s\n", line, oneLine(err))
}

// ranked counts a line that has fewer best answers than are wanted.
func (p *badLines) ranked(wanted, found int) {
	if p.wanted = wanted; found < wanted {
		p.fewer++
	}
}

// maxUnknown is the number of unknown tokens that a message names.
const maxUnknown = 5

// remark reports the tokens of a line that the model does not know, and the first line that is much longer than those of training.
func (p *badLines) remark(line int, m *pipeline.Model, in task.Input) {
	if trained, size := m.TrainedLength(), len(in.Source); trained > 0 && size > 2*trained && !p.long {
		p.long = true
		p.c.PrintErrf("ut: line %d: it has %d tokens, more than twice as many as the longest source of training, %d: its answer may be wrong; further such lines are not reported\n",
			line, size/m.Vocabularies.Positions(), trained/m.Vocabularies.Positions())
	}
	if len(in.Unknown) > 0 {
		p.c.PrintErrf("ut: line %d: %s\n", line, unknownText(in.Unknown))
	}
}

// unknownText names tokens that the model does not know.
func unknownText(tokens []string) string {
	var different []string
	for _, token := range tokens {
		if quoted := strconv.Quote(token); !slices.Contains(different, quoted) {
			different = append(different, quoted)
		}
	}
	if more := len(different) - maxUnknown; more > 0 {
		different = append(different[:maxUnknown], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s read as <unknown>: %s", quantity.Of(len(tokens), "unknown token is", "unknown tokens are"), strings.Join(different, ", "))
}

// skip writes an empty line for a missing answer, so that answers stay aligned with their lines.
func (p *badLines) skip() error {
	if p.byHand {
		return nil
	}
	_, err := io.WriteString(p.c.OutOrStdout(), "\n")
	return err
}

// end notes how many lines have fewer answers than are wanted, and returns an error if a line could not be answered, unless a person typed
// the input.
func (p *badLines) end() error {
	if p.fewer > 0 {
		p.c.PrintErrf("ut: note: %s fewer than %d answers: the model has found no others\n", quantity.Of(p.fewer, "line has", "lines have"), p.wanted)
	}
	if p.count == 0 || p.byHand {
		return nil
	}
	return fmt.Errorf("%d of %d lines could not be answered", p.count, p.lines)
}
