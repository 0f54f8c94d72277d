//go:build !linux

package main

func features() []string { return nil }

func freeDisk(string) uint64 { return 0 }
