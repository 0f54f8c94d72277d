package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// fullDisk trains on a separate disk that is too small for all checkpoints, or for the first one; then the disk grows.
func (s *scene) fullDisk() {
	disk := filepath.Join(s.dir, "disk")
	must(os.Mkdir(disk, 0o755))
	size := 16 + s.rng.IntN(160)
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); err != nil {
		s.note("", skipped, fmt.Sprintf("no disk can be mounted here: %v", err))
		return
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
	grow := fmt.Sprintf(`"$@"; code=$?; mount -o remount,size=64m %q || exit 99; exit $code`, disk)
	s.fails(grow, filepath.Join(disk, "run"), fmt.Sprintf("a disk of %d kB", size))
}
