// Package part names the part of a model that is at fault. Transitions, halting policies and positions of a run may be those of other modules,
// and so may exit rules, arrangements and coordinates of a model that is built in Go; without a name, their faults are errors of the operations
// that use what they return.
package part

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// A Part is a part of a model.
type Part struct {
	kind  string
	value any
}

// Of returns a part of a kind, such as "transition".
func Of(kind string, value any) Part { return Part{kind, value} }

// An Error is a fault of a part.
type Error struct {
	message string
	cause   error // nil if the part's result is wrong
}

// Error names the part by its kind and type: "transition main.GLU returned nil, want (Float32)[32 8 32]".
func (e *Error) Error() string { return e.message }

// Unwrap returns the error with which the part panicked, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Errorf returns an [Error] whose message begins with the part.
func (p Part) Errorf(format string, args ...any) *Error {
	return &Error{message: fmt.Sprintf("%s %T ", p.kind, p.value) + fmt.Sprintf(format, args...)}
}

// Check panics with an [Error] unless x has a shape. did says what the part did with x: "returned".
func (p Part) Check(did string, x *graph.Node, want shapes.Shape) {
	switch {
	case x == nil:
		panic(p.Errorf("%s nil, want %s", did, want))
	case !x.Shape().Equal(want):
		panic(p.Errorf("%s %s, want %s", did, x.Shape(), want))
	}
}

// Call returns the result of f, which calls p. If f panics with an error that does not name a part yet, Call panics with one that names p.
func Call[T any](p Part, f func() T) T {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		if cause, ok := problem.(error); ok && !errors.As(cause, new(*Error)) {
			problem = &Error{fmt.Sprintf("%s %T: %v", p.kind, p.value, cause), cause}
		}
		panic(problem)
	}()
	return f()
}
