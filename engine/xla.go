//go:build xla

package engine

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
	"k8s.io/klog/v2"
)

const xlaCompiled = true

// prepare sets what go-xla has for the whole process, once.
var prepare = sync.OnceFunc(func() {
	xla.EnableAutoInstall(false) // nothing is downloaded implicitly
	klog.LogToStderr(false)      // go-xla returns what it logs as errors, too
	klog.SetOutput(io.Discard)
})

// openXLA opens a plugin, "PLUGIN" or "/ABSOLUTE/PATH.so", followed by a comma and go-xla's options. An empty configuration means the
// cpu plugin.
func openXLA(config string, devices int) (compute.Backend, error) {
	prepare()
	if config == "" {
		config = "cpu"
	}
	plugin, options, _ := strings.Cut(config, ",")
	if err := found(plugin); err != nil {
		return nil, err
	}
	backend, err := xla.NewWithOptions(config, clientOptions(plugin, options, devices))
	if err != nil {
		return nil, firstLine(err)
	}
	if have := backend.NumDevices(); have != devices && (devices > 1 || have == 0) {
		backend.Finalize()
		return nil, fmt.Errorf("it has %d devices, not the requested %d", have, devices)
	}
	return backend, nil
}

// found returns an error that says how to install a plugin if it is not installed.
func found(plugin string) error {
	if filepath.IsAbs(plugin) {
		if _, err := os.Stat(plugin); err != nil {
			return fmt.Errorf("there is no library %s: docs/accelerators.md says which to get", plugin)
		}
		return nil
	}
	have := slices.Sorted(maps.Keys(pjrt.AvailablePlugins()))
	for _, name := range have {
		if name == plugin || strings.HasPrefix(name, plugin+"_v") {
			return nil
		}
	}
	get := "docs/accelerators.md says how to get one"
	if plugin == "cpu" {
		get = "python3 -m pip download --no-deps xla-cpu-pjrt==0.0.1, then as docs/accelerators.md says"
	}
	where, set := os.LookupEnv(pjrt.PJRTPluginPathsEnv)
	if !set {
		where = "not set"
	}
	return fmt.Errorf("no plugin pjrt_c_api_%s_plugin.so is found (%s is %s; there: %s): %s", plugin, pjrt.PJRTPluginPathsEnv, where,
		strings.Join(append(have, "none")[:max(1, len(have))], ", "), get)
}

// clientOptions returns the options that make the plugin show the given number of devices, as far as its kind is known. Options that
// the user gives take precedence.
func clientOptions(plugin, options string, devices int) pjrt.NamedValuesMap {
	switch {
	case pjrt.IsCUDAName(plugin) && !strings.Contains(options, "visible_devices"):
		return pjrt.NamedValuesMap{"visible_devices": visibleDevices(devices)}
	case strings.Contains(strings.ToLower(filepath.Base(plugin)), "cpu"):
		return pjrt.NamedValuesMap{"cpu_device_count": int64(devices)}
	}
	return nil
}

// firstLine returns an error without its stack trace.
func firstLine(err error) error {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if strings.Contains(line, "undefined symbol: "+pjrt.GetPJRTApiFunctionName) {
		return fmt.Errorf("the library is not a PJRT plugin: it has no function %s", pjrt.GetPJRTApiFunctionName)
	}
	return errors.New(strings.TrimPrefix(line, `backend "xla": `))
}

// Plugins lists the installed plugins of XLA with their devices. It silences klog as [New] does.
func Plugins() (list []Plugin) {
	prepare()
	available := pjrt.AvailablePlugins()
	for _, name := range slices.Sorted(maps.Keys(available)) {
		p := Plugin{Name: name, Path: available[name], Devices: []string{}}
		if err := p.look(); err != nil {
			p.Problem = firstLine(err).Error()
		}
		list = append(list, p)
	}
	return list
}

// look starts the plugin and records its devices.
func (p *Plugin) look() (err error) {
	plugin, err := pjrt.GetPlugin(p.Name)
	if err != nil {
		return err
	}
	client, err := plugin.NewClient(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Destroy()) }()
	p.Platform = client.Platform()
	for _, device := range client.AddressableDevices() {
		description, err := device.GetDescription()
		if err != nil {
			return err
		}
		p.Devices = append(p.Devices, description.DebugString())
	}
	return nil
}
