// Package enginetest opens backends for tests. Every test that computes takes its backend from here, so that the whole suite can run
// on another one: UT_BACKEND=NAME go test ./...
package enginetest

import (
	"os"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
)

// Variable is the environment variable that names the backend; the default is engine.Default.
const Variable = "UT_BACKEND"

var shared = sync.OnceValues(func() (compute.Backend, error) { return engine.New(os.Getenv(Variable)) })

// Backend returns the backend that all tests of a process share.
func Backend(t testing.TB) compute.Backend {
	t.Helper()
	backend, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

// Portable returns the portable backend, which runs operations sequentially. Under the race detector it skips the test: the backend
// (github.com/gomlx/compute v0.1.3, internal/gobackend/dot/matmul, smallNoSIMDGeneric) advances a pointer past the last row of a
// matrix, which checkptr, a part of the detector, rejects.
func Portable(t testing.TB) compute.Backend {
	t.Helper()
	if race {
		t.Skip("the portable backend advances pointers past its allocations, which checkptr rejects")
	}
	backend, err := engine.New("go:ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	return backend
}
