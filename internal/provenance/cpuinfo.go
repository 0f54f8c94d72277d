package provenance

import (
	"os"
	"runtime"
	"strings"
)

// CPU returns the model name of the processor, as lscpu prints it where the system has /proc/cpuinfo, and otherwise system and architecture.
func CPU() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	if name := modelName(string(data)); name != "" {
		return name
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// modelName finds the first model name in the text of /proc/cpuinfo.
func modelName(text string) string {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model", "cpu model":
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
