package kernel

import (
	"sync"
	"syscall"
	"unsafe"
)

// tilesPermitted requests, once, the state of AMX's tiles from the system, as a process must do before it uses them.
var tilesPermitted = sync.OnceValue(func() bool {
	const (
		supported, request = 0x1021, 0x1023 // of arch_prctl, Linux 5.16
		tileData           = 18             // bits of a state: the tiles, and
		tileConfig         = 17             // their configuration
	)
	var states uint64
	if _, _, failed := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, supported, uintptr(unsafe.Pointer(&states)), 0); failed != 0 {
		return false
	}
	if states>>tileData&1 == 0 || states>>tileConfig&1 == 0 {
		return false
	}
	_, _, failed := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, request, tileData, 0)
	return failed == 0
})
