// Package engine chooses the compute backend by name. It is the only place that knows which backends exist and how they differ.
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

// Names are the backends there are, without those that are not compiled in.
func Names() []string {
	names := []string{"cpu", "go"}
	if xlaCompiled {
		names = append(names, xlaName)
	}
	return names
}

// New makes a backend from a name and optional configuration, "NAME:CONFIG"; an empty name means Default. "go" is GoMLX's
// portable backend; it runs its operations one after the other unless its configuration says otherwise, because its parallel
// mode can deadlock. "xla:PLUGIN" is XLA with a plugin of that name, or with the library at an absolute path.
func New(name string) (compute.Backend, error) { return NewWithDevices(name, 1) }

// NewWithDevices is New with so many devices. Training splits the rows of its batches over all that a backend has
// ([compute.Backend].NumDevices). Only XLA has more than one.
func NewWithDevices(name string, devices int) (compute.Backend, error) {
	if name == "" {
		name = Default
	}
	kind, config, _ := strings.Cut(name, ":")
	switch {
	case kind == xlaName:
		backend, err := openXLA(config, devices)
		if err != nil {
			return nil, fmt.Errorf("backend %q: %w", name, err)
		}
		return backend, nil
	case !slices.Contains(Names(), kind):
		return nil, fmt.Errorf("backend %q is not known: there are %s", name, strings.Join(Names(), ", "))
	case devices != 1:
		return nil, fmt.Errorf("%d devices: backend %q has one; several devices of one host need XLA, as in --backend xla:cpu (docs/accelerators.md)", devices, kind)
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

// CompilesSlowly tells whether compiling a graph on the backend takes so long that there should be few: what saves work by a graph of its
// own, such as one for every plan of capacities, costs more than it saves there.
func CompilesSlowly(backend compute.Backend) bool { return backend.Name() == xlaName }

// xlaName is the backend of XLA, and what it calls itself.
const xlaName = "xla"

// Plugin is a PJRT plugin that XLA can be run with.
type Plugin struct {
	Name     string   `json:"name"` // as in --backend xla:NAME
	Path     string   `json:"path"`
	Platform string   `json:"platform"`
	Devices  []string `json:"devices"`
	Problem  string   `json:"problem,omitempty"` // why it cannot be used
}
