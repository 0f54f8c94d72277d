package main

import (
	"bytes"
	"os"
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

// freeDisk returns the free bytes of the file system of a folder; 0 if they are unknown.
func freeDisk(folder string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
