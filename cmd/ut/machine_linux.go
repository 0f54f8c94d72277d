package main

import (
	"bytes"
	"os"
	"runtime"
	"slices"
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

// hostProcessors returns the number of processors of the host, also of those to which this process is not bound.
func hostProcessors() int {
	data, err := os.ReadFile("/proc/cpuinfo")
	n := 0
	for line := range bytes.Lines(data) {
		if name, _, _ := strings.Cut(string(line), ":"); strings.TrimSpace(name) == "processor" {
			n++
		}
	}
	if err != nil || n == 0 {
		return runtime.NumCPU()
	}
	return n
}

// freeDisk returns the free bytes of the file system of a folder; 0 if they are unknown.
func freeDisk(folder string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
