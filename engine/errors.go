package engine

import "errors"

// Plain returns a backend's error about insufficient memory without the names of graphs and Go functions that GoMLX puts before it. Other
// errors, and nil, are returned unchanged.
func Plain(err error) error {
	var short interface {
		error
		Memory() (need, have int)
	}
	if errors.As(err, &short) {
		return short
	}
	return err
}
