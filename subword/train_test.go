package subword_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"universal-transformer/subword"
)

// The order of the lines, and how they come, does not matter.
func TestTrainIsDeterministic(t *testing.T) {
	files := map[string]bool{}
	for _, texts := range [][]string{{"b a b ab\naab aab\n", "ba ba\r\nabab"}, {"ba ba\nabab\naab aab\nb a b ab"}, {"abab\n", "", "b a b ab\n\n", "aab aab\nba ba"}} {
		trainer := subword.Trainer{Size: 264}
		for _, text := range texts {
			if err := trainer.Count(iotest.OneByteReader(strings.NewReader(text))); err != nil {
				t.Fatal(err)
			}
		}
		b, err := trainer.Train()
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := b.Write(&file); err != nil {
			t.Fatal(err)
		}
		files[file.String()] = true
	}
	if len(files) != 1 {
		t.Errorf("%d different files of the same lines", len(files))
	}
}

// A trainer keeps the words of lines in memory, not the lines. Caught when planted: words that share the memory of their line.
func TestTrainerKeepsWords(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var trainer subword.Trainer
	const lines, length = 8, 1 << 19
	before := heap()
	for i := range lines {
		if err := trainer.Add(strings.Repeat("a ", length/2) + string(rune('b'+i))); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 2*length || trainer.Lines() != lines {
		t.Errorf("%d bytes after %d lines of %d bytes", grown, trainer.Lines(), length)
	}
}

// Pairs are merged until the vocabulary is full, or they are rarer than wanted; of what is done Progress is told.
func TestTrainEnds(t *testing.T) {
	for _, c := range []struct {
		size, least, want int
	}{{258, 0, 258}, {260, 0, 260}, {1000, 0, 264}, {1000, 2, 260}, {1000, 3, 258}} {
		last := 0
		trainer := subword.Trainer{Size: c.size, MinCount: c.least, Progress: func(done, total int) error {
			if done != last+1 || total != c.size-258 {
				t.Errorf("size %d: %d of %d after %d", c.size, done, total, last)
			}
			last = done
			return nil
		}}
		if err := trainer.Count(strings.NewReader("xyz xyz\nklmn")); err != nil { // "xyz", " xyz" and "klmn"
			t.Fatal(err)
		}
		b, err := trainer.Train()
		if err != nil || b.Size() != c.want || last != c.want-258 || trainer.Lines() != 2 {
			t.Errorf("size %d, min count %d: %d tokens after %d merges of %d lines, %v", c.size, c.least, b.Size(), last, trainer.Lines(), err)
		}
	}
}

// Lines may be long, and are counted over all texts.
func TestCount(t *testing.T) {
	var trainer subword.Trainer
	for _, text := range []string{strings.Repeat("long ", 1<<17), "", "short\nlines\n"} {
		if err := trainer.Count(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if trainer.Lines() != 3 {
		t.Errorf("%d lines, want 3", trainer.Lines())
	}
	for length, want := range map[int]string{1 << 20: "", 1<<20 + 1: "line 1 is longer than 1048576 bytes"} { // with the line break
		err := trainer.Count(strings.NewReader(strings.Repeat("a", length-1) + "\n"))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("a line of %d bytes: %v, want %q", length, err, want)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	broken := errors.New("broken")
	for want, text := range map[string]io.Reader{
		"line 2: byte 2 is NUL: this is no text": strings.NewReader("a\nb\x00c"),
		"line 2: not valid UTF-8 at byte 3":      strings.NewReader("a\nö\xffb"),
		"line 3 is longer than":                  strings.NewReader("a\n\n" + strings.Repeat("a", 1<<20)),
		"broken":                                 iotest.ErrReader(broken),
	} {
		if err := new(subword.Trainer).Count(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	counted := func(trainer subword.Trainer, text string) *subword.Trainer {
		if err := trainer.Count(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return &trainer
	}
	for want, trainer := range map[string]*subword.Trainer{
		"no text":         counted(subword.Trainer{}, "\n\n"),
		"size is 257":     counted(subword.Trainer{Size: 257}, "a"),
		"size is -1":      counted(subword.Trainer{Size: -1}, "a"),
		"size is 1677721": counted(subword.Trainer{Size: 1<<24 + 1}, "a"),
		"min-count is -1": counted(subword.Trainer{MinCount: -1}, "a"),
		"broken":          counted(subword.Trainer{Progress: func(int, int) error { return broken }}, "ab"),
	} {
		if _, err := trainer.Train(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
