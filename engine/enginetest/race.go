//go:build race

package enginetest

const race = true
