//go:build race

package cpu

const RaceEnabled = true
