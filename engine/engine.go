// Package engine chooses the compute backend by name. It is the only place that knows which there are.
package engine

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // registers "go"
	_ "universal-transformer/cpu"          // registers "cpu"
)

// Default is the backend of a command that is not told which to use.
const Default = "cpu"

// New makes a backend from a name and optional configuration, "NAME:CONFIG"; an empty name means Default. "go" is GoMLX's
// portable backend; it runs its operations one after the other unless its configuration says otherwise, because its parallel
// mode can deadlock.
func New(name string) (compute.Backend, error) {
	if name == "" {
		name = Default
	}
	if name == "go" {
		name = "go:ops_sequential"
	}
	backend, err := compute.NewWithConfig(name)
	if err != nil {
		known := strings.Join(compute.List(), ", ")
		return nil, fmt.Errorf("backend %q cannot be had: %w (built in: %s)", name, err, known)
	}
	return backend, nil
}
