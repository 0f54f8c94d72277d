package translation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// files opens the files of corpora, in an archive, a folder or by path.
type files struct{ *archive.Archive }

// open returns the files of the given corpora.
func (c Translation) open(corpora ...Corpus) (files, error) {
	var names []string
	for _, corpus := range corpora {
		names = append(names, corpus.names()...)
	}
	a, err := archive.Open(c.Path, names...)
	if errors.Is(err, archive.ErrFormat) {
		err = fmt.Errorf(`%w: write a file of pairs, source TAB target, as task.training=[{"pairs": "FILE"}] with an empty task.path`, err)
	}
	return files{a}, err
}

// A pair is a sentence in two languages.
type pair struct {
	line           int // line number in its file, from 1
	source, target string
}

// A report counts the pairs of a corpus and the skipped pairs by reason.
type report struct {
	corpus             string
	source, target     string // the files of both sides, the same one for a file of pairs
	used               int
	empty, bytes, long int    // a side is empty or missing; is not UTF-8; is too long
	first              string // describes the first skipped pair
	other              string // the file of the first side that is not UTF-8
}

// skip counts a pair as skipped, because of a line of the named file.
func (r *report) skip(counter *int, file string, line int, why string) {
	*counter++
	if r.first == "" {
		r.first = fmt.Sprintf("%s:%d: %s", file, line, why)
	}
	if counter == &r.bytes && r.other == "" {
		r.other = file
	}
}

// files names the files of the corpus.
func (r *report) files() string {
	if r.source == r.target {
		return r.source
	}
	return r.source + ", " + r.target
}

// lines formats the report.
func (r *report) lines() []string {
	list := []string{fmt.Sprintf("%s: %s", r.corpus, quantity.Regular(r.used, "pairs"))}
	if left := r.empty + r.bytes + r.long; left > 0 {
		list = append(list, fmt.Sprintf("  skipped %d: %d with an empty side or no tab, %d not UTF-8, %d too long; the first is %s", left, r.empty, r.bytes, r.long, r.first))
	}
	if r.bytes > 0 {
		list = append(list, fmt.Sprintf("  if all of it is in another encoding, %v", textfile.EncodingError(r.other, "")))
	}
	return list
}

// check returns an error if the corpus is empty, or if fewer than half of its pairs are usable.
func (r *report) check() error {
	switch left := r.empty + r.bytes + r.long; {
	case r.used+left == 0:
		return fmt.Errorf("%s is empty: it must have one pair per line", r.files())
	case r.used == 0:
		return r.withEncoding(fmt.Errorf("%s: none of %d pairs is usable: %s", r.files(), left, r.first))
	case left > r.used:
		return r.withEncoding(fmt.Errorf("%s: %d of %d pairs are unusable, more than half: the first is %s", r.files(), left, left+r.used, r.first))
	}
	return nil
}

// withEncoding adds to an error how to convert the file, if pairs are not UTF-8.
func (r *report) withEncoding(err error) error {
	if r.bytes == 0 {
		return err
	}
	return fmt.Errorf("%w: %w", err, textfile.EncodingError(r.other, ""))
}

// pairs calls use with every pair of a corpus, without the blanks around its sides. A pair with an empty side, invalid UTF-8 or a
// line that is too long is counted in the report. Two files of different numbers of lines are an error.
func (f files) pairs(corpus Corpus, r *report, use func(pair) error) error {
	names := corpus.names()
	r.corpus, r.source, r.target = corpus.String(), f.Path(names[0]), f.Path(names[len(names)-1])
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
		var long longLine
		switch {
		case errors.As(err, &bad):
			r.skip(&r.empty, r.source, line, err.Error())
			continue
		case errors.As(err, &long):
			r.skip(&r.long, string(long), line, long.Error())
			continue
		case err != nil:
			return err
		}
		p := pair{line, strings.TrimSpace(source), strings.TrimSpace(target)}
		if why := subword.CheckText(p.source); why != nil {
			r.skip(&r.bytes, r.source, line, "source: "+why.Error())
		} else if why := subword.CheckText(p.target); why != nil {
			r.skip(&r.bytes, r.target, line, "target: "+why.Error())
		} else if p.source == "" {
			r.skip(&r.empty, r.source, line, "the source is empty")
		} else if p.target == "" {
			r.skip(&r.empty, r.target, line, "the target is empty")
		} else if err := use(p); err != nil {
			return err
		}
	}
}

// reader returns a function that reads the next pair of a corpus; at the end it returns io.EOF.
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
		sides = append(sides, &lines{Closer: file, name: f.Path(name), r: bufio.NewReaderSize(textfile.NewLineReader(file, math.MaxInt64), 64<<10)})
	}
	if len(sides) == 1 {
		return sides[0].pair, stop, nil
	}
	return func() (string, string, error) { return nextPair(sides[0], sides[1]) }, stop, nil
}

// limit describes the maximum length, which the field max_length raises for training.
func limit(longest int) string {
	if longest == longestHeldOut {
		return fmt.Sprintf("more than %d", longest)
	}
	return fmt.Sprintf("more than task.max_length %d: raise it", longest)
}

// encode encodes a pair. It reports false, and counts the pair as skipped, if a side has more than longest subwords or cannot be
// encoded.
func encode(pieces *subword.Pieces, p pair, longest int, r *report) (e task.Example, ok bool) {
	var err error
	if e.Source, err = pieces.Encode(p.source); err == nil {
		e.Target, err = pieces.Encode(p.target)
	}
	if err != nil {
		r.skip(&r.bytes, r.source, p.line, err.Error())
		return e, false
	}
	if n := max(len(e.Source), len(e.Target)); n > longest {
		file := r.source
		if len(e.Target) == n {
			file = r.target
		}
		r.skip(&r.long, file, p.line, fmt.Sprintf("%d subwords, %s", n, limit(longest)))
		return e, false
	}
	r.used++
	e.Target = append(e.Target, vocab.End)
	return e, true
}
