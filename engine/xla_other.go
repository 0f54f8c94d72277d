//go:build !xla

package engine

import (
	"errors"

	"github.com/gomlx/compute"
)

const xlaCompiled = false

func openXLA(string, int) (compute.Backend, error) {
	return nil, errors.New("this program was built without XLA; with it: CGO_ENABLED=1 go build -tags xla -o bin/ut-xla ./cmd/ut (docs/accelerators.md)")
}

// Plugins lists the installed plugins of XLA.
func Plugins() []Plugin { return nil }
