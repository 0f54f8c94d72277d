//go:build !linux && amd64

package kernel

// tilesPermitted returns false: only Linux grants AMX's tiles on request.
func tilesPermitted() bool { return false }
