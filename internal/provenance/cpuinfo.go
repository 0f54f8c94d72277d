package provenance

import (
	"os"
	"runtime"
	"strings"
)

// CPU returns the name of the processor: where the system has /proc/cpuinfo, the model name as lscpu prints it, with family and model of an x86
// processor, "AMD EPYC, family 25, model 17", because one name may stand for several generations; otherwise system and architecture.
func CPU() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		if name := processor(string(data)); name != "" {
			return name
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// processor returns the name of the first processor in the text of /proc/cpuinfo, or "" if the text names none. Only x86 has the key "cpu family";
// "Model" is the name of a board on ARM, and "model" a number on x86.
func processor(text string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	fields := map[string]string{}
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		fields[strings.TrimSpace(key)] = strings.Join(strings.Fields(value), " ")
	}
	if name := fields["model name"]; name != "" {
		if family, model := fields["cpu family"], fields["model"]; family != "" && model != "" {
			name += ", family " + family + ", model " + model
		}
		return name
	}
	for line := range strings.Lines(text) {
		switch key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) {
		case "Model", "cpu model":
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
