package ir

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Unsupported is the error of a graph that holds an operation, or a type, that no kernel does. It is the only one for
// which the graph may run on another backend instead.
type Unsupported struct{ What string }

func (u Unsupported) Error() string { return "no kernels for " + u.What }

// bug is the error of a compiler that broke on a graph: a mistake of this program, whatever the graph is.
type bug struct {
	pkg       string // where it broke
	place     string // file:line
	operation string // what was compiled
	cause     any    // what the panic said
}

func (b *bug) Error() string {
	cause := strings.Join(strings.Fields(fmt.Sprint(b.cause)), " ")
	return fmt.Sprintf("%s: cannot compile %s: %s (%s): this is a bug in %s, please report it", b.pkg, b.operation, cause, b.place, b.pkg)
}

// Blame is deferred where the compiler works on one operation: of a panic it makes one that names the operation, once.
func Blame(operation string) {
	switch r := recover().(type) {
	case nil:
	case Unsupported, *bug:
		panic(r)
	default:
		panic(newBug(operation, r))
	}
}

// Failure makes an error of what recover returned; nil remains nil.
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

// newBug looks for the place on the stack of the panic, which is still there while deferred functions run: the first
// function of this backend below the panic.
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
