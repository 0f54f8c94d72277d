//go:build xla

package engine_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"universal-transformer/engine"
)

// A program that does not open XLA keeps its warnings of klog; opening it, also without success, silences them.
// Caught when planted: klog silenced by the import of the package; not at all.
func TestLogOfTheProgram(t *testing.T) {
	if os.Getenv("ENGINE_LOG") != "" {
		klog.Warning("before")
		if _, err := engine.New("xla:missing"); err == nil {
			t.Error("there is a plugin missing")
		}
		klog.Warning("after")
		return
	}
	program := exec.Command(os.Args[0], "-test.run=^TestLogOfTheProgram$")
	program.Env = append(os.Environ(), "ENGINE_LOG=1")
	said, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "before") || strings.Contains(string(said), "after") {
		t.Errorf("%v, %s", err, said)
	}
}

// plugin is the name of the processor's plugin; without it the test is skipped.
func plugin(t *testing.T) engine.Plugin {
	t.Helper()
	for _, p := range engine.Plugins() {
		if p.Name == "cpu" {
			return p
		}
	}
	t.Skip("there is no plugin pjrt_c_api_cpu_plugin.so: docs/accelerators.md")
	return engine.Plugin{}
}

// The plugin is found by name and by path, shows as many devices as are asked for, and takes options.
func TestXLA(t *testing.T) {
	p := plugin(t)
	if !slices.Contains(engine.Names(), "xla") || p.Platform != "cpu" || len(p.Devices) < 1 || p.Problem != "" {
		t.Errorf("%+v, names %v", p, engine.Names())
	}
	for _, name := range []string{"xla", "xla:cpu", "xla:" + p.Path, "xla:cpu,noshared_buffers"} {
		for _, devices := range []int{1, 3} {
			backend, err := engine.NewWithDevices(name, devices)
			if err != nil {
				t.Errorf("%s with %d devices: %v", name, devices, err)
				continue
			}
			if got := backend.NumDevices(); got != devices {
				t.Errorf("%s has %d devices, want %d", name, got, devices)
			}
			if shared := backend.HasSharedBuffers(); shared == strings.HasSuffix(name, ",noshared_buffers") {
				t.Errorf("%s: shared buffers %v", name, shared)
			}
			backend.Finalize()
		}
	}
	for name, says := range map[string]string{"xla:cpu,fast": "unknown plugin options [fast]", "xla:gpu": "there: cpu", "xla:/dev/null": "/dev/null"} {
		if _, err := engine.New(name); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want it to say %q", name, err, says)
		}
	}
}
