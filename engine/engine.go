// Package engine chooses the compute backend by name. It is the only place that knows which there are.
package engine

import (
	"fmt"
	"slices"
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
	if kind, _, _ := strings.Cut(name, ":"); !slices.Contains(compute.List(), kind) {
		return nil, fmt.Errorf("backend %q is not known: there are %s", name, strings.Join(slices.Sorted(slices.Values(compute.List())), ", "))
	}
	if name == "go" {
		name = "go:ops_sequential"
	}
	backend, err := compute.NewWithConfig(name)
	if err != nil {
		return nil, fmt.Errorf("backend %q: %s", name, strings.TrimSuffix(err.Error(), ", ; see code for documentation"))
	}
	return backend, nil
}
