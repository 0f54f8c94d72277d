package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// features returns those of the processor that kernels use, as Linux names them.
func features() (list []string) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(data) {
		name, values, _ := strings.Cut(string(line), ":")
		if name = strings.TrimSpace(name); name != "flags" && name != "Features" {
			continue
		}
		has := strings.Fields(values)
		for _, feature := range []string{"fma", "avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "amx_bf16", "asimd", "sve"} {
			if slices.Contains(has, feature) {
				list = append(list, feature)
			}
		}
		return list
	}
	return nil
}

// availableMemory returns the bytes that may still be used: those that the kernel reports, or the rest of the control group's limit if that is
// less; 0 if they are unknown.
func availableMemory() (available uint64) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if words := strings.Fields(string(line)); len(words) > 1 && words[0] == "MemAvailable:" {
			n, _ := strconv.ParseUint(words[1], 10, 64)
			available = n << 10
		}
	}
	number := func(name string) (uint64, bool) {
		data, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", name))
		n, wrong := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
		return n, err == nil && wrong == nil
	}
	limit, limited := number("memory.max")
	if used, ok := number("memory.current"); ok && limited {
		available = min(available, max(limit, used)-used)
	}
	return available
}

// freeDisk returns the free bytes of the file system of a folder; 0 if they are unknown.
func freeDisk(folder string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
