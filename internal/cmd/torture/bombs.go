//go:build unix

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxArchiveMemory is the memory limit for archives, in bytes, however much they unpack to.
const maxArchiveMemory = 512 << 20

// bombs are archives that are small and unpack to much.
func bombs(w *world) part {
	var p part
	lambada := []string{"data", "lambada", "--dir", "out", "--archive"}
	for _, b := range []struct {
		name, file string
		content    func() string
		args       []string
	}{
		{"zeros as translation data", "a.tar.gz", func() string { return zerosGzip(2<<30, "train.en", "train.de") },
			[]string{"train", "own-translation", "--out", "out", "--set", "training.steps=1", "--set", "task.path="}},
		{"zeros as stories", "a.tar.gz", func() string { return zerosGzip(2<<30, "tasks_1-20_v1-2/en/qa1_a_train.txt") }, []string{"train", "babi-1k-single/task01", "--out", "out", "--set", "training.steps=1", "--set", "task.path="}},
		{"zeros as LAMBADA", "a.zip", func() string { return zerosZip(900 << 20) }, lambada},
		{"nested archives", "a.tar", func() string { return nested(20_000) }, lambada},
		{"a bad file after good ones", "a.tar", func() string {
			good := entry(tar.TypeReg, "lambada_test_plain_text.txt", 6, "a b c\n")
			return good + entry(tar.TypeReg, "train-novels/../../../x.txt", 1, "x") + strings.Repeat("\x00", 1024)
		}, lambada},
	} {
		p.trials = append(p.trials, trial{"archive: " + b.name, func(s *scene) { s.bomb(b.file, b.content(), b.args) }})
	}
	return p
}

// bomb gives the program an archive, which it must refuse in little memory, leaving no files.
func (s *scene) bomb(file, content string, args []string) {
	must(os.WriteFile(filepath.Join(s.dir, file), []byte(content), 0o644))
	args = append(append([]string{}, args...), file)
	if last := len(args) - 2; strings.HasSuffix(args[last], "=") {
		args = append(args[:last], args[last]+file)
	}
	r := s.run(call{args: args, limit: 20 * time.Second, ending: syscall.SIGTERM, again: true})
	unpacked := strings.Contains(r.stderr, "are missing or damaged: get them again") // then every bad file has a line
	k := r.refusal()
	if k == unclear && unpacked && r.code == 1 {
		k = refused
	}
	switch {
	case r.hung:
		k = hang
	case r.memory > maxArchiveMemory:
		k = failing
		r.stderr += fmt.Sprintf(" (%d MiB)", r.memory>>20)
	case r.code == 130:
		k = obeyed
	case k == refused && !unpacked && len(names(s.dir, "out")) > 0:
		k = failing
		r.stderr += " (files are left)"
	}
	s.note("", k, r.says())
}

// zerosGzip returns a .tar.gz with files of so many zeros together. Its members repeat, so that it is made quickly.
func zerosGzip(size int, names ...string) string {
	const block = 16 << 20
	gzipped := func(content string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(content))
		must(err)
		must(w.Close())
		return b.String()
	}
	zeros := gzipped(strings.Repeat("\x00", block))
	var archive strings.Builder
	for _, name := range names {
		blocks := size / len(names) / block
		archive.WriteString(gzipped(entry(tar.TypeReg, name, int64(blocks)*block, "")))
		archive.WriteString(strings.Repeat(zeros, blocks))
	}
	return archive.String() + gzipped(strings.Repeat("\x00", 1024))
}

// zerosZip returns a zip with LAMBADA's test set, which consists of zeros.
func zerosZip(size int) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("lambada_test_plain_text.txt")
	must(err)
	for block := make([]byte, 1<<20); size > 0; size -= len(block) {
		_, err := f.Write(block)
		must(err)
	}
	must(w.Close())
	return b.String()
}

// nested returns an archive in an archive, and so on.
func nested(depth int) string {
	var heads []string
	size := 1024
	for range depth {
		heads = append(heads, entry(tar.TypeReg, "a.tar", int64(size), ""))
		size += 512
	}
	var b strings.Builder
	for i := len(heads) - 1; i >= 0; i-- {
		b.WriteString(heads[i])
	}
	return b.String() + strings.Repeat("\x00", 1024)
}
