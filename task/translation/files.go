package translation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// longestLine is the most bytes a line may have; longer ones are left out without being held in memory.
const longestLine = 1 << 20

// files are where the text is.
type files struct{ *archive.Archive }

// open finds the files of corpora.
func (c Translation) open(corpora ...Corpus) (files, error) {
	var names []string
	for _, corpus := range corpora {
		names = append(names, corpus.names()...)
	}
	a, err := archive.Open(c.Path, names...)
	return files{a}, err
}

// A pair is one line in two languages.
type pair struct {
	line           int // from 1
	source, target string
}

// report counts the pairs of a corpus, and what was left out, by the reason.
type report struct {
	corpus, where      string
	used               int
	empty, bytes, long int    // one side is empty or missing, is no UTF-8, is too long
	first              string // what was left out first
}

// skip counts a line that is left out.
func (r *report) skip(counter *int, line int, why string) {
	*counter++
	if r.first == "" {
		r.first = fmt.Sprintf("%s:%d: %s", r.where, line, why)
	}
}

// lines says it for people.
func (r *report) lines() []string {
	list := []string{fmt.Sprintf("%s: %d pairs", r.corpus, r.used)}
	if left := r.empty + r.bytes + r.long; left > 0 {
		list = append(list, fmt.Sprintf("  %d are left out: %d with an empty side or no tab, %d not UTF-8, %d too long; the first is %s", left, r.empty, r.bytes, r.long, r.first))
	}
	return list
}

// check is an error if there is nothing, or less than half of what there is can be used.
func (r *report) check() error {
	switch left := r.empty + r.bytes + r.long; {
	case r.used+left == 0:
		return fmt.Errorf("%s is empty: it must have a line for every pair", r.where)
	case r.used == 0:
		return fmt.Errorf("%s: none of %d pairs can be used: %s", r.where, left, r.first)
	case left > r.used:
		return fmt.Errorf("%s: %d of %d pairs cannot be used, more than half: the first is %s", r.where, left, left+r.used, r.first)
	}
	return nil
}

// pairs gives every pair of a corpus to use, without the blanks around its sides. Those that are empty on a side, not UTF-8 or
// longer than any text go to the report; that one file has more lines than the other is an error.
func (f files) pairs(corpus Corpus, r *report, use func(pair) error) error {
	r.corpus, r.where = corpus.String(), f.Path(corpus.names()[0])
	next, stop, err := f.reader(corpus)
	if err != nil {
		return err
	}
	defer stop()
	for line := 1; ; line++ {
		source, target, err := next()
		if err == io.EOF {
			return nil
		}
		var bad malformed
		switch {
		case errors.As(err, &bad):
			r.skip(&r.empty, line, err.Error())
			continue
		case errors.Is(err, errLong):
			r.skip(&r.long, line, err.Error())
			continue
		case err != nil:
			return err
		}
		p := pair{line, strings.TrimSpace(source), strings.TrimSpace(target)}
		if why := subword.CheckText(p.source); why != nil {
			r.skip(&r.bytes, line, "source: "+why.Error())
		} else if why := subword.CheckText(p.target); why != nil {
			r.skip(&r.bytes, line, "target: "+why.Error())
		} else if p.source == "" || p.target == "" {
			r.skip(&r.empty, line, "a side is empty")
		} else if err := use(p); err != nil {
			return err
		}
	}
}

// malformed is a line of a file of pairs that is none.
type malformed string

func (m malformed) Error() string { return string(m) }

var errLong = fmt.Errorf("it is longer than %d bytes", longestLine)

// reader gives one pair after the other, as it stands in the files, io.EOF at their end.
func (f files) reader(corpus Corpus) (next func() (source, target string, err error), stop func(), err error) {
	var sides []*lines
	stop = func() {
		for _, side := range sides {
			side.Close()
		}
	}
	for _, name := range corpus.names() {
		file, err := f.Open(name)
		if err != nil {
			stop()
			return nil, nil, err
		}
		sides = append(sides, &lines{Closer: file, name: f.Path(name), r: bufio.NewReaderSize(textfile.NewReader(file, math.MaxInt64), 64<<10)})
	}
	if len(sides) == 1 {
		return sides[0].pair, stop, nil
	}
	return func() (string, string, error) { return both(sides[0], sides[1]) }, stop, nil
}

// both reads a line of each side.
func both(a, b *lines) (source, target string, err error) {
	source, first := a.next()
	target, second := b.next()
	if (first == io.EOF) != (second == io.EOF) {
		if first == io.EOF {
			a, b = b, a
		}
		return "", "", fmt.Errorf("line %d of %s has no partner: %s ends after line %d, and line for line they must belong together", a.count, a.name, b.name, b.count)
	}
	for _, err := range []error{first, second} {
		if err != nil && !errors.Is(err, errLong) {
			return "", "", err
		}
	}
	return source, target, errors.Join(first, second)
}

// lines reads a file.
type lines struct {
	io.Closer
	name  string
	r     *bufio.Reader
	count int
}

// pair reads a line of a file of pairs.
func (l *lines) pair() (source, target string, err error) {
	text, err := l.next()
	if err != nil {
		return "", "", err
	}
	source, target, found := strings.Cut(text, "\t")
	switch {
	case text == "":
		err = malformed("the line is empty")
	case !found:
		err = malformed("no tab between source and target")
	case strings.Contains(target, "\t"):
		err = malformed("more than one tab")
	}
	return source, target, err
}

// next reads a line, without its line feed.
func (l *lines) next() (string, error) {
	var text []byte
	long := false
	for some := false; ; some = true {
		part, err := l.r.ReadSlice('\n')
		if err == io.EOF && !some && len(part) == 0 {
			return "", io.EOF
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("%s: %w", l.name, err)
		}
		if long = long || len(text)+len(part) > longestLine; !long {
			text = append(text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.count++
		if long {
			return "", errLong
		}
		return string(bytes.TrimSuffix(text, []byte("\n"))), nil
	}
}

// encode makes an example of a pair, unless a side has too many sub-words, or cannot be written in them.
func encode(pieces *subword.Pieces, p pair, longest int, r *report) (e task.Example, ok bool) {
	var err error
	if e.Source, err = pieces.Encode(p.source); err == nil {
		e.Target, err = pieces.Encode(p.target)
	}
	if err != nil {
		r.skip(&r.bytes, p.line, err.Error())
		return e, false
	}
	if n := max(len(e.Source), len(e.Target)); n > longest {
		r.skip(&r.long, p.line, fmt.Sprintf("%d sub-words, more than %d", n, longest))
		return e, false
	}
	r.used++
	e.Target = append(e.Target, vocab.End)
	return e, true
}
