// Package enginetest gives tests a backend. Every test of a package that computes takes its backend from here, so that the
// whole suite can be run on another one: UT_BACKEND=NAME go test ./...
package enginetest

import (
	"os"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
)

// Variable is the environment variable that names the backend; without it, it is engine.Default.
const Variable = "UT_BACKEND"

var shared = sync.OnceValues(func() (compute.Backend, error) { return engine.New(os.Getenv(Variable)) })

// Backend is the one that all tests of a process share.
func Backend(t testing.TB) compute.Backend {
	t.Helper()
	backend, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

// Portable is the portable backend, with one operation after another. Under the race detector the test is skipped: that backend
// (github.com/gomlx/compute v0.1.3, internal/gobackend/dot/matmul, smallNoSIMDGeneric) advances a pointer past the last row of a
// matrix, which checkptr, a part of the detector, does not let pass.
func Portable(t testing.TB) compute.Backend {
	t.Helper()
	if race {
		t.Skip("the portable backend leaves its allocations, which checkptr ends the process for")
	}
	backend, err := engine.New("go:ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	return backend
}
