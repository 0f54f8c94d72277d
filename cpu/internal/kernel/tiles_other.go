//go:build !linux && amd64

package kernel

// tilesPermitted says no: only Linux is known to hand out AMX's tiles on request.
func tilesPermitted() bool { return false }
