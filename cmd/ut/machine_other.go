//go:build !linux

package main

import "runtime"

func hostProcessors() int { return runtime.NumCPU() }

func features() []string { return nil }

func freeDisk(string) uint64 { return 0 }
