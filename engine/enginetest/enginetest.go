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
