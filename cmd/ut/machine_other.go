//go:build !linux

package main

func features() []string { return nil }

func availableMemory() uint64 { return 0 }

func freeDisk(string) uint64 { return 0 }
