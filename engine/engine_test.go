package engine_test

import (
	"strings"
	"testing"

	"universal-transformer/engine"
)

// Every backend that is named can be made, has one device unless it is asked for more, and only XLA compiles slowly.
func TestNames(t *testing.T) {
	for _, name := range engine.Names() {
		if name == "xla" && len(engine.Plugins()) == 0 {
			continue
		}
		backend, err := engine.New(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if backend.NumDevices() != 1 {
			t.Errorf("%s has %d devices", name, backend.NumDevices())
		}
		if slow := engine.CompilesSlowly(backend); slow != (name == "xla") {
			t.Errorf("%s compiles slowly: %v", name, slow)
		}
		backend.Finalize()
	}
}

// A backend whose products are rounded too much for gradients is for inference alone.
// Caught when planted: one of bfloat16 refused.
func TestCheckTraining(t *testing.T) {
	for name, says := range map[string]string{
		"go": "", "cpu": "", "cpu:scalar,products=bf16": "", "cpu:scalar,products=int8": "products=int8 is for inference: train without it",
	} {
		backend, err := engine.New(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.CheckTraining(backend); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
		backend.Finalize()
	}
}

// Names and configurations are checked without the processor and the plugins that they need.
// Caught when planted: options that are not read; a name that is not checked.
func TestCheckName(t *testing.T) {
	for name, says := range map[string]string{
		"cpu": "", "cpu:avx512,threads=1,products=bf16": "", "cpu:neon,threads=2": "", "go": "", "go:ops_parallel": "", "xla": "", "xla:cuda": "",
		"": `backend "" is not known: there are cpu, go, xla`, "tpu:1": `backend "tpu:1" is not known`, "cpu:products=lies": `products is "lies"`,
		"products=lies": "is not known", "cpu:avx512,threads=x": `threads is "x"`, "go:lies": "lies",
	} {
		if err := engine.CheckName(name); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", name, err, says)
		}
	}
}

// What is not there, and devices that a backend has not, are refused by name.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices int
		says    string
	}{
		{"tpu", 1, `backend "tpu" is not known: there are cpu, go`},
		{"", 2, `2 devices: backend "cpu" has one`},
		{"cpu:threads=1", 4, `4 devices: backend "cpu" has one`},
		{"go", 3, `3 devices: backend "go" has one`},
		{"cpu:gpu", 1, `option "gpu" is not known`},
		{"stablehlo:cpu", 1, "is not known"},
		{"xla:nothing", 1, "docs/accelerators.md"},
		{"xla:/nowhere/plugin.so", 1, "docs/accelerators.md"},
	} {
		backend, err := engine.NewWithDevices(c.name, c.devices)
		if err == nil {
			backend.Finalize()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q with %d devices: %v, want it to say %q", c.name, c.devices, err, c.says)
		}
	}
}
