// Package provenance records what trained or measured a model: the build, the backend and its options, the device, the processor, and the
// time that it took.
package provenance

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"universal-transformer/runlog"
)

// Provenance is where a model or a measurement comes from. Empty strings and zeros are not recorded.
type Provenance struct {
	Version     string  `json:"version,omitempty"`      // release of the program: "0.2.0"
	Commit      string  `json:"commit,omitempty"`       // of the build, or the version of the module; ".modified" follows if the tree had changes
	Backend     string  `json:"backend,omitempty"`      // with options: "cpu:threads=1,products=bf16"
	Device      string  `json:"device,omitempty"`       // that the backend uses: "host", "NVIDIA H200"
	CPU         string  `json:"cpu,omitempty"`          // name of the processor: "AMD EPYC, family 25, model 17"; earlier versions left out family and model
	Threads     int     `json:"threads,omitempty"`      // that the backend uses, of each process
	Ranks       int     `json:"ranks,omitempty"`        // processes that trained together; 0: one
	WallSeconds float64 `json:"wall_seconds,omitempty"` // without the time in which the process was suspended
	CPUSeconds  float64 `json:"cpu_seconds,omitempty"`  // of all threads of all ranks, user and system; earlier versions counted the first rank only
	Updates     int64   `json:"updates,omitempty"`      // updates made, those lost with a killed process included
	Diverged    int64   `json:"diverged,omitempty"`     // the update at which training diverged, which ended it; 0: it did not
	ChangedData string  `json:"changed_data,omitempty"` // which data differed from those before, and were accepted: "the training data have changed since the checkpoint of update 10"
}

// Backend is what Of asks of a backend; compute.Backend has these methods.
type Backend interface {
	Name() string
	Description() string
}

// Of returns the provenance of work that this process does with a backend, without times. A backend may have the methods Options and
// Threads; without Threads it counts as using all threads that the process may use.
func Of(b Backend, device string) Provenance {
	version, commit := SplitVersion(runlog.Version())
	p := Provenance{Version: version, Commit: commit, Backend: b.Name(), Device: device, CPU: CPU(), Threads: runtime.GOMAXPROCS(0)}
	if c, ok := b.(interface{ Options() string }); ok {
		p.Backend += ":" + c.Options()
	} else if what := b.Description(); what != "" {
		p.Backend += " (" + what + ")"
	}
	if c, ok := b.(interface{ Threads() int }); ok {
		p.Threads = c.Threads()
	}
	return p
}

// SplitVersion splits "0.2.0+70be9d05caaf" into the release and the commit, which may be missing.
func SplitVersion(version string) (release, commit string) {
	release, commit, _ = strings.Cut(version, "+")
	return release, commit
}

// Recorded reports whether anything is known.
func (p Provenance) Recorded() bool { return p != Provenance{} }

// Build is the release with the commit, "0.2.0+70be9d05caaf"; empty if not recorded.
func (p Provenance) Build() string {
	if p.Commit == "" {
		return p.Version
	}
	return p.Version + "+" + p.Commit
}

// Validate returns an error that names the first field without a sensible value.
func (p Provenance) Validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"threads", float64(p.Threads)}, {"ranks", float64(p.Ranks)}, {"wall_seconds", p.WallSeconds}, {"cpu_seconds", p.CPUSeconds}, {"updates", float64(p.Updates)}, {"diverged", float64(p.Diverged)},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %v: it must not be negative", f.name, f.value)
		}
	}
	if p.Version == "" && p.Commit != "" {
		return errors.New("commit is given without version")
	}
	return nil
}

// Merge returns one provenance for several sessions: times and updates are added, different texts are listed ("0.2.0; 0.3.0"), and the
// numbers of threads and ranks are the largest.
func Merge(sessions []Provenance) Provenance {
	var all Provenance
	var versions, commits, backends, devices, cpus, changed []string
	for _, s := range sessions {
		versions, commits, backends = add(versions, s.Version), add(commits, s.Commit), add(backends, s.Backend)
		devices, cpus, changed = add(devices, s.Device), add(cpus, s.CPU), add(changed, s.ChangedData)
		all.Threads, all.Ranks = max(all.Threads, s.Threads), max(all.Ranks, s.Ranks)
		all.WallSeconds += s.WallSeconds
		all.CPUSeconds += s.CPUSeconds
		all.Updates += s.Updates
	}
	all.Version, all.Commit, all.Backend = join(versions), join(commits), join(backends)
	all.Device, all.CPU, all.ChangedData = join(devices), join(cpus), join(changed)
	return all
}

func add(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func join(list []string) string { return strings.Join(list, "; ") }
