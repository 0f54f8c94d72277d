package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"universal-transformer/internal/atomicfile"
)

// maxDownload is far above the size of any data set, in bytes.
const maxDownload = 1 << 30

// maxFetchTime limits the duration of a download.
const maxFetchTime = 10 * time.Minute

// temporaryPattern returns the pattern of names for a file that is being downloaded.
func temporaryPattern(path string) string { return "." + filepath.Base(path) + ".*.tmp" }

// removeStale removes the files of killed downloads. Files of downloads that may still be running remain.
func removeStale(path string) {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), temporaryPattern(path)))
	for _, part := range left {
		file, ours := atomicfile.Unfinished(filepath.Base(part))
		if info, err := os.Stat(part); ours && file == filepath.Base(path) && err == nil && time.Since(info.ModTime()) > maxFetchTime {
			_ = os.Remove(part)
		}
	}
}

// fetch downloads a file to path. The file appears only if the download is complete and check accepts it.
func fetch(ctx context.Context, from, path string, check func(from, path string) error) (err error) {
	ctx, stop := context.WithTimeout(ctx, maxFetchTime)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", from, answer.Status)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	removeStale(path)
	f, err := atomicfile.Temporary(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	body := &readerOfErrors{Reader: io.LimitReader(answer.Body, maxDownload+1)}
	n, err := io.Copy(f, body)
	err = errors.Join(err, f.Close())
	switch {
	case body.err != nil:
		return fmt.Errorf("%s: %d bytes came, and then: %w: fetch it again", from, n, body.err)
	case err != nil:
		return atomicfile.Cause(path, err)
	}
	if n > maxDownload {
		return fmt.Errorf("%s is larger than %d bytes, which is too large for a data set", from, maxDownload)
	}
	if err := check(from, f.Name()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return atomicfile.Cause(path, err)
	}
	return nil
}

// readerOfErrors remembers an error of reading, to tell it from one of writing.
type readerOfErrors struct {
	io.Reader
	err error
}

func (r *readerOfErrors) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
