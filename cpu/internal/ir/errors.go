package ir

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Unsupported is the error of a graph with an operation or a type that has no kernel. Only after this error may the graph run on
// another backend.
type Unsupported struct{ What string }

func (u Unsupported) Error() string { return "no kernels for " + u.What }

// A bug is the error of a compiler that failed on a graph, which is a mistake of this program.
type bug struct {
	pkg       string // package in which it failed
	place     string // file:line
	operation string // operation that was compiled
	cause     any    // value of the panic
}

func (b *bug) Error() string {
	cause := strings.Join(strings.Fields(fmt.Sprint(b.cause)), " ")
	return fmt.Sprintf("%s: cannot compile %s: %s (%s): this is a bug in %s, please report it", b.pkg, b.operation, cause, b.place, b.pkg)
}

// Blame is deferred while the compiler works on one operation. It adds the operation to a panic, once.
func Blame(operation string) {
	switch r := recover().(type) {
	case nil:
	case Unsupported, *bug:
		panic(r)
	default:
		panic(newBug(operation, r))
	}
}

// Failure converts a recovered value to an error; nil remains nil.
func Failure(recovered any, operation string) error {
	switch r := recovered.(type) {
	case nil:
		return nil
	case Unsupported:
		return r
	case *bug:
		return r
	}
	return newBug(operation, recovered)
}

// newBug searches the stack of the panic, which still exists while deferred functions run, for the first function of this backend
// below the panic.
func newBug(operation string, cause any) *bug {
	b := &bug{pkg: "cpu", place: "unknown place", operation: operation, cause: cause}
	module := strings.TrimSuffix(reflect.TypeFor[bug]().PkgPath(), "/cpu/internal/ir")
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for below := false; ; {
		frame, more := frames.Next()
		if below && strings.HasPrefix(frame.Function, module+"/") {
			name := strings.TrimPrefix(frame.Function, module+"/")
			folder, last := filepath.Split(name)
			b.pkg, _, _ = strings.Cut(last, ".")
			b.pkg = folder + b.pkg
			b.place = fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
			return b
		}
		below = below || frame.Function == "runtime.gopanic"
		if !more {
			return b
		}
	}
}
