package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	mostLines   = 64                    // decoded together
	longestLine = 1 << 20               // bytes
	patience    = 50 * time.Millisecond // before lines that are there are answered without waiting for more
)

// lineReader reads lines ahead, so that they can be taken together if they come fast and one by one if they come slowly.
type lineReader struct {
	lines chan string
	err   error // why lines was closed; io.EOF at the end of the input
}

func readLines(r io.Reader) *lineReader {
	l := &lineReader{lines: make(chan string, mostLines)}
	go func() {
		defer close(l.lines)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, longestLine)
		number := 0
		for scanner.Scan() {
			number++
			l.lines <- scanner.Text()
		}
		l.err = scanner.Err()
		switch {
		case l.err == nil:
			l.err = io.EOF
		case errors.Is(l.err, bufio.ErrTooLong):
			l.err = fmt.Errorf("line %d is longer than %d bytes", number+1, longestLine)
		}
	}()
	return l
}

// next waits for a line and takes those that follow without delay. What ends the input comes with its last lines.
func (l *lineReader) next(ctx context.Context) (lines []string, err error) {
	var late <-chan time.Time // never, before there is a line
	for len(lines) < mostLines {
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
