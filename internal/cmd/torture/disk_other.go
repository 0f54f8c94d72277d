//go:build unix && !linux

package main

func (s *scene) fullDisk() {
	s.note("", skipped, "no disk is mounted on this system: only the size of files is limited")
}
