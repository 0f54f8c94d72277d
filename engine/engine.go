// Package engine opens compute backends by name. Only this package knows which backends exist and how they differ.
package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend" // registers "go"
	"universal-transformer/cpu"            // registers "cpu"
)

// Default is the name of the default backend.
const Default = "cpu"

// Names returns the names of the backends that are compiled in.
func Names() []string {
	names := []string{"cpu", "go"}
	if xlaCompiled {
		names = append(names, xlaName)
	}
	return names
}

// New opens a backend by name and optional configuration, "NAME:CONFIG"; an empty name means Default. "go" is GoMLX's portable
// backend. It runs operations sequentially unless its configuration says otherwise, because its parallel mode can deadlock.
// "xla:PLUGIN" is XLA with the plugin of that name, or with the library at an absolute path; the first one that is opened silences klog,
// with which go-xla logs, in the whole process, apart from its errors.
func New(name string) (compute.Backend, error) { return NewWithDevices(name, 1) }

// NewWithDevices is like New with the given number of devices. Training splits the rows of its batches over all devices of a backend
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
		return nil, fmt.Errorf("%d devices: backend %q has one; several devices of one host need XLA, as in the backend xla:cpu (docs/accelerators.md)", devices, kind)
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

// Threads returns the number of threads of the backend cpu with this name, and 0 for other backends and names that are not valid.
func Threads(name string) int {
	if kind, config, _ := strings.Cut(name, ":"); kind == cpu.BackendName {
		return cpu.Threads(config)
	}
	return 0
}

// CheckName returns an error unless the name and configuration of a backend are valid. No device is opened, so kernels that this processor lacks and
// backends that this build lacks are valid; of a configuration of XLA, only its plugin can tell.
func CheckName(name string) error {
	kind, config, _ := strings.Cut(name, ":")
	switch kind {
	case cpu.BackendName:
		if err := cpu.CheckOptions(config); err != nil {
			return fmt.Errorf("backend %q: %w", name, err)
		}
		return nil
	case "go":
		backend, err := New(name)
		if err == nil {
			backend.Finalize()
		}
		return err
	case xlaName:
		return nil
	}
	return fmt.Errorf("backend %q is not known: there are cpu, go, %s", name, xlaName)
}

// CheckTraining returns an error if the backend is for inference alone, because it computes no useful gradients.
func CheckTraining(backend compute.Backend) error {
	b, ok := backend.(interface{ InferenceOnly() string })
	if !ok || b.InferenceOnly() == "" {
		return nil
	}
	return fmt.Errorf("backend %s: %s is for inference: train without it, or with products=bf16", backend.Name(), b.InferenceOnly())
}

// CompilesSlowly reports whether the backend takes so long to compile a graph that a separate graph, such as one for every plan of
// capacities, costs more time than it saves.
func CompilesSlowly(backend compute.Backend) bool { return backend.Name() == xlaName }

// CallsSlowly reports whether every call of a graph and every operation has a fixed cost, as on a GPU: inputs and outputs are transferred,
// the caller waits, and operations are kernels that are launched one by one. A large graph of few operations is then faster than several
// small ones.
func CallsSlowly(backend compute.Backend) bool { return backend.Name() == xlaName }

// Repeats reports whether two processes with the same kernels and number of threads compute the same bits. XLA chooses algorithms by
// measuring them, and its graphs round differently when more is fused into one.
func Repeats(backend compute.Backend) bool { return backend.Name() != xlaName }

// CrossEntropyFunction returns the beginning of the name of functions that the backend computes as cross entropy without whole logits
// ([cpu.CrossEntropyFunction]), or "" if it does not.
func CrossEntropyFunction(backend compute.Backend) string {
	if backend.Name() == cpu.BackendName {
		return cpu.CrossEntropyFunction
	}
	return ""
}

// AttentionFunction returns the beginning of the name of functions that the backend computes as attention without whole scores
// ([cpu.AttentionFunction]), or "" if it does not.
func AttentionFunction(backend compute.Backend) string {
	if backend.Name() == cpu.BackendName {
		return cpu.AttentionFunction
	}
	return ""
}

// xlaName is the name of the XLA backend, also in GoMLX.
const xlaName = "xla"

// A Plugin is an installed PJRT plugin, a library that XLA runs on.
type Plugin struct {
	Name     string   `json:"name"` // as in --backend xla:NAME
	Path     string   `json:"path"`
	Platform string   `json:"platform"`
	Devices  []string `json:"devices"`
	Problem  string   `json:"problem,omitempty"` // why it cannot be used
}
