package unpack

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"universal-transformer/internal/atomicfile"
)

// Stage makes a folder if it does not exist, and a temporary one in it. It calls fill, which writes files in the temporary folder, and then
// move, which moves them to their places, and removes what is left. If ctx ends before move begins, the temporary folder is removed at
// once, and the error is that of ctx. After an error, the folder is removed if Stage made it and it is empty.
func Stage(ctx context.Context, folder string, fill, move func(staging string) error) error {
	made, err := makeFolder(folder)
	if err != nil {
		return err
	}
	removeStale(folder)
	staging, err := os.MkdirTemp(folder, stagingName)
	if err != nil {
		return atomicfile.Cause(folder, err)
	}
	remove := func() { _ = os.RemoveAll(staging) }
	stop := context.AfterFunc(ctx, func() {
		remove()
		removeEmpty(made)
	})
	err = fill(staging)
	if !stop() {
		err = ctx.Err()
	}
	if err == nil {
		err = move(staging)
	}
	remove()
	if err != nil {
		removeEmpty(made)
	}
	return err
}

// stagingName is the pattern of the folder that files are in until all are there.
const stagingName = ".unpack.*.tmp"

// longestUnpacking is a time after which no process is still unpacking.
const longestUnpacking = 12 * time.Hour

// removeStale removes what killed processes left.
func removeStale(folder string) {
	left, _ := filepath.Glob(filepath.Join(folder, stagingName))
	for _, dir := range left {
		if _, ours := atomicfile.Unfinished(filepath.Base(dir)); !ours {
			continue
		}
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > longestUnpacking {
			_ = os.RemoveAll(dir)
		}
	}
}

// makeFolder makes a folder and its parents, and lists those that were made, the innermost first.
func makeFolder(folder string) (made []string, err error) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return made, os.MkdirAll(folder, 0o755)
		}
		made = append(made, dir)
	}
}

// removeEmpty removes folders that have stayed empty.
func removeEmpty(folders []string) {
	for _, dir := range folders {
		_ = os.Remove(dir) // fails if it is not empty
	}
}
