package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// Where a directory cannot be flushed, a file is written all the same; other errors are errors.
// Caught when planted: Windows' error returned; denied access ignored everywhere.
func TestUnsupported(t *testing.T) {
	denied := &os.PathError{Op: "sync", Path: "runs", Err: os.ErrPermission}
	for _, c := range []struct {
		err  error
		goos string
		want bool
	}{
		{denied, "windows", true}, {denied, "linux", false}, {errors.ErrUnsupported, "linux", true}, {syscall.EINVAL, "darwin", true},
		{syscall.EIO, "linux", false}, {syscall.EIO, "windows", false},
	} {
		if got := unsupported(c.err, c.goos); got != c.want {
			t.Errorf("%v on %s: %v", c.err, c.goos, got)
		}
	}
}
