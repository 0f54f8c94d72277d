package engine

import (
	"errors"

	"universal-transformer/internal/part"
)

// A MemoryError is a backend's error about insufficient memory. It is an interface because backends have their own error types.
type MemoryError interface {
	error
	Memory() (need, have int) // bytes
}

// AsMemoryError returns the error about insufficient memory in the chain of err, without the names of graphs and Go functions that GoMLX puts
// before it, and whether there is one.
func AsMemoryError(err error) (short MemoryError, ok bool) {
	ok = errors.As(err, &short)
	return short, ok
}

// Plain returns the error about insufficient memory in the chain of err, if there is one, or that of a part of the model, and otherwise err.
func Plain(err error) error {
	if short, ok := AsMemoryError(err); ok {
		return short
	}
	if fault := new(part.Error); errors.As(err, &fault) {
		return fault
	}
	return err
}
