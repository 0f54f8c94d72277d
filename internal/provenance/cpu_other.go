//go:build !unix

package provenance

import "time"

// cpuTime returns 0: this system has no portable source.
func cpuTime() time.Duration { return 0 }
