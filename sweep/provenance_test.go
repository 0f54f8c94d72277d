package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine"
	"universal-transformer/internal/provenance"
)

// unrecorded is the file of what published results do not record, one line each in the order of names. Nothing is added to it: a result without
// its whole provenance is not published any more.
const unrecorded = "testdata/unrecorded.txt"

// maxUnrecorded is the number of lines of that file. It is lowered with every line that goes, and never raised.
const maxUnrecorded = 235

// Every published result records who trained and who measured it, whole and plausible, except for what is listed in testdata/unrecorded.txt. A
// listed result that records more than is listed fails, too, so that the list shrinks.
// Caught when planted: trained_by deleted from a result; the commit of a result that lacks others deleted; a backend added to a result whose
// backend is listed as missing; a line that is not sorted, is there twice, or names no result; a device of "banana"; products=lies; the commit of
// one run of a file of depth.
func TestPublishedProvenance(t *testing.T) {
	listed := readUnrecorded(t)
	check := func(name, missing string) {
		if want := listed[name]; missing != want {
			t.Errorf("%s does not record: %q; %s says %q", name, missing, unrecorded, want)
		}
		delete(listed, name)
	}
	for _, r := range publishedResults(t) {
		check(r.Name(), missing(r.Header))
		if err := plausible(r.Header); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
	}
	for name, commit := range depthCommits(t) {
		if commit == "" {
			check(name, "commit")
			continue
		}
		check(name, "")
		if !commitForm.MatchString(commit) {
			t.Errorf("%s: commit is %q", name, commit)
		}
	}
	for name := range listed {
		t.Errorf("%s lists %s, which is not published", unrecorded, name)
	}
}

// publishedResults reads the published results.
func publishedResults(t *testing.T) []Result {
	t.Helper()
	all, err := ReadAll(filepath.Join("..", "results"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d results, %v", len(all), err)
	}
	return all
}

// readUnrecorded reads the list of what is not recorded, by names.
func readUnrecorded(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(unrecorded)
	if err != nil {
		t.Fatal(err)
	}
	list, last := map[string]string{}, ""
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, what, ok := strings.Cut(lines.Text(), ": ")
		if !ok || what == "" || name <= last {
			t.Errorf("%s: %q follows %q: each line is NAME: WHAT, in the order of names", unrecorded, lines.Text(), last)
		}
		list[name], last = what, name
	}
	if len(list) != maxUnrecorded {
		t.Errorf("%s has %d lines, want %d: the number falls with the lines, and never grows", unrecorded, len(list), maxUnrecorded)
	}
	return list
}

// depthCommits returns the commits of the builds that wrote the files of depth, "" where a file does not say which.
func depthCommits(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "results", DepthFolder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of depth, %v", len(files), err)
	}
	commits := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var runs []struct{ Version string }
		if err := json.Unmarshal(data, &runs); err != nil || len(runs) == 0 {
			t.Fatalf("%s: %d runs, %v", file, len(runs), err)
		}
		name := DepthFolder + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
		for i, r := range runs {
			release, commit := provenance.SplitVersion(r.Version)
			if i > 0 && commit != commits[name] || !versionForm.MatchString(release) {
				t.Errorf("%s: run %d has version %q", file, i+1, r.Version)
			}
			commits[name] = commit
		}
	}
	return commits
}

// Every paired test records who measured it, whole and plausible.
// Caught when planted: the commit of one deleted; updates; two threads.
func TestPairedProvenance(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "results", PairedFolder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d paired tests, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			MeasuredBy Provenance `json:"measured_by"`
		}
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		h := Header{MeasuredBy: p.MeasuredBy}
		if lacking := missing(h); lacking != "trained_by" {
			t.Errorf("%s does not record: %q", file, lacking)
		}
		if err := plausible(h); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// missing describes what a result does not record: "trained_by commit cpu; measured_by cpu". It is empty if the result is complete.
func missing(h Header) string {
	var parts []string
	for _, p := range []struct {
		name string
		Provenance
	}{{"trained_by", h.TrainedBy}, {"measured_by", h.MeasuredBy}} {
		var fields []string
		for _, f := range []struct {
			name     string
			recorded bool
		}{
			{"version", p.Version != ""}, {"commit", p.Commit != ""}, {"backend", p.Backend != ""}, {"device", p.Device != ""}, {"cpu", p.CPU != ""},
			{"threads", p.Threads != 0}, {"wall_seconds", p.WallSeconds != 0}, {"cpu_seconds", p.CPUSeconds != 0},
			{"updates", p.Updates != 0 || p.name == "measured_by"}, // a measurement makes none
		} {
			if !f.recorded {
				fields = append(fields, f.name)
			}
		}
		switch {
		case !p.Recorded():
			parts = append(parts, p.name)
		case len(fields) > 0:
			parts = append(parts, p.name+" "+strings.Join(fields, " "))
		}
	}
	return strings.Join(parts, "; ")
}

// Forms of what is recorded. Processors are named as the system names them, with family and model on x86.
var (
	versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	commitForm  = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	cpuForm     = regexp.MustCompile(`^(AMD|Intel|Intel\(R\))[ -][A-Za-z0-9() @.,/-]{2,60}, family \d+, model \d+$|^(ARM|Apple|Neoverse)[ -][A-Za-z0-9() @.,/-]{2,60}$|^[a-z]+/(arm64|amd64)$`)
	gpuForm     = regexp.MustCompile(`^NVIDIA [A-Z][A-Za-z0-9 -]{1,40}$`)
	optionForm  = regexp.MustCompile(`\bthreads=(\d+)`)
)

// earlierProcessors lists the builds that recorded no family and model of a processor, and its name, as the system gives it or as docs/log.md
// describes it. A build that records them is not added. Results of version 0.2.0 that do not record the commit have none before the name.
var earlierProcessors = []string{
	" AMD EPYC",
	" AMD with AVX2",
	"01af341d5c6b AMD EPYC",
	"04dde755e48b AMD Zen 4",
	"179daae02a60 Intel with AMX",
	"1c6ec9734be9 AMD EPYC",
	"375cf20342f2 Intel with AMX",
	"41e528d2103e AMD EPYC",
	"464a0fa441b8 Intel with AMX",
	"4e6780dc1668 AMD Zen 4",
	"5d64ea29c96f Intel with AMX",
	"72de2f9c7119 AMD EPYC",
	"7e2a9d17818d Intel with AMX",
	"849bb13eed8a AMD EPYC",
	"8b9ab1d72f1d AMD Zen 4",
	"8defc75e9399 AMD Zen 4",
	"976cfaab2261 AMD Zen 4",
	"a18a6ad251a3 AMD EPYC",
	"a6d50ebd72d1 AMD with AVX-512",
	"a9019e568f4a AMD EPYC",
	"b223bc278256 AMD EPYC",
	"bfaa8e960ad7 Intel with AMX",
	"cf443687e486 AMD EPYC",
	"db0bd61fb63a Intel with AMX",
	"ec7c71c92092 AMD EPYC",
	"ffb4474d2827 AMD EPYC",
}

// checkProcessor checks the name of a processor, given the commits of the builds.
func checkProcessor(commits, name string) error {
	for commit := range strings.SplitSeq(commits, "; ") {
		if slices.Contains(earlierProcessors, commit+" "+name) {
			return nil
		}
	}
	return form(cpuForm)(name)
}

// plausible returns an error that names the first field of a provenance without a plausible value.
func plausible(h Header) error {
	for _, p := range []struct {
		name string
		Provenance
	}{{"trained_by", h.TrainedBy}, {"measured_by", h.MeasuredBy}} {
		if err := plausibleProvenance(p.Provenance); err != nil {
			return fmt.Errorf("%s.%w", p.name, err)
		}
	}
	switch p := h.TrainedBy; {
	case p.Threads != 0 && p.Threads != h.Threads:
		return fmt.Errorf("trained_by.threads is %d, the result has %d", p.Threads, h.Threads)
	case p.Updates != 0 && p.Updates < h.Step:
		return fmt.Errorf("trained_by.updates is %d, but step is %d", p.Updates, h.Step)
	case h.MeasuredBy.Updates != 0:
		return fmt.Errorf("measured_by.updates is %d", h.MeasuredBy.Updates)
	}
	return nil
}

func plausibleProvenance(p Provenance) error {
	for _, f := range []struct {
		name, value string
		check       func(string) error
	}{
		{"version", p.Version, form(versionForm)}, {"commit", p.Commit, form(commitForm)}, {"backend", p.Backend, checkBackend},
		{"device", p.Device, func(d string) error { return checkDevice(p.Backend, d) }}, {"cpu", p.CPU, func(name string) error { return checkProcessor(p.Commit, name) }},
	} {
		for part := range strings.SplitSeq(f.value, "; ") { // of several sessions
			if err := f.check(part); err != nil && f.value != "" {
				return fmt.Errorf("%s is %q: %w", f.name, part, err)
			}
		}
	}
	threads := 0
	for _, m := range optionForm.FindAllStringSubmatch(p.Backend, -1) {
		var n int
		if _, err := fmt.Sscan(m[1], &n); err != nil {
			return err
		}
		threads = max(threads, n)
	}
	switch {
	case p.Threads > 1024 || threads > 0 && p.Threads != threads:
		return fmt.Errorf("threads is %d, with the backend %q", p.Threads, p.Backend)
	case (p.WallSeconds == 0) != (p.CPUSeconds == 0):
		return fmt.Errorf("wall_seconds is %v and cpu_seconds %v: both or none are recorded", p.WallSeconds, p.CPUSeconds)
	case p.CPUSeconds > 1.25*float64(p.Threads)*p.WallSeconds+0.1: // the garbage collector has threads of its own, which measurements of a quarter of a second feel
		return fmt.Errorf("cpu_seconds is %v in %v seconds on %d threads", p.CPUSeconds, p.WallSeconds, p.Threads)
	}
	return nil
}

// form returns a check of a form.
func form(f *regexp.Regexp) func(string) error {
	return func(s string) error {
		if !f.MatchString(s) {
			return errors.New("it must match " + f.String())
		}
		return nil
	}
}

// checkBackend checks the name and options of a backend, with the backend's own parser. A description in parentheses may follow, as
// [provenance.Of] writes it.
func checkBackend(s string) error {
	name, _, described := strings.Cut(s, " (")
	if described && strings.HasPrefix(name, "cpu") {
		return errors.New("cpu is recorded with its options")
	}
	return engine.CheckName(name)
}

// checkDevice checks that a backend may have a device.
func checkDevice(backend, s string) error {
	if strings.HasPrefix(backend, "xla") {
		return form(gpuForm)(s)
	}
	if s != "host" {
		return fmt.Errorf("backend %q has the device host", backend)
	}
	return nil
}

// The rules themselves: what is not plausible is an error that names the field.
func TestPlausible(t *testing.T) {
	good := Header{Step: 60, Threads: 1, TrainedBy: Provenance{
		Version: "0.2.0", Commit: "72de2f9c7119", Backend: "cpu:avx512,threads=1,products=bf16", Device: "host", CPU: "AMD EPYC", Threads: 1,
		WallSeconds: 10, CPUSeconds: 9, Updates: 60,
	}}
	good.MeasuredBy = good.TrainedBy
	good.MeasuredBy.Updates = 0
	if err := plausible(good); err != nil || missing(good) != "" {
		t.Fatalf("%v, missing %q", err, missing(good))
	}
	for says, change := range map[string]func(*Header){
		`trained_by.version is "0.2"`:                      func(h *Header) { h.TrainedBy.Version = "0.2" },
		`trained_by.commit is "main"`:                      func(h *Header) { h.TrainedBy.Commit = "main" },
		`measured_by.commit is "72de2f9c7119.modified"`:    func(h *Header) { h.MeasuredBy.Commit += ".modified" },
		`trained_by.commit is "b"`:                         func(h *Header) { h.TrainedBy.Commit += "; b" },
		`trained_by.backend is "products=lies"`:            func(h *Header) { h.TrainedBy.Backend = "products=lies" },
		`products is "lies"`:                               func(h *Header) { h.TrainedBy.Backend = "cpu:threads=1,products=lies" },
		`measured_by.backend is "cpu (SIMD)"`:              func(h *Header) { h.MeasuredBy.Backend = "cpu (SIMD)" },
		`trained_by.device is "banana"`:                    func(h *Header) { h.TrainedBy.Device = "banana" },
		`trained_by.device is "NVIDIA H200": backend "cpu`: func(h *Header) { h.TrainedBy.Device = "NVIDIA H200" },
		`trained_by.device is "host"`:                      func(h *Header) { h.TrainedBy.Backend = "xla:cuda" },
		`measured_by.cpu is "banana"`:                      func(h *Header) { h.MeasuredBy.CPU = "banana" },
		`measured_by.cpu is "AMD Zen 4"`:                   func(h *Header) { h.MeasuredBy.CPU = "AMD Zen 4" },
		`trained_by.cpu is "AMD EPYC"`:                     func(h *Header) { h.TrainedBy.Commit = "0123456789ab" },
		`trained_by.threads is 2, the result has 1`:        func(h *Header) { h.TrainedBy.Threads, h.TrainedBy.Backend = 2, "cpu" },
		`measured_by.threads is 4, with the backend`:       func(h *Header) { h.MeasuredBy.Threads = 4 },
		`trained_by.updates is 59, but step is 60`:         func(h *Header) { h.TrainedBy.Updates = 59 },
		`measured_by.updates is 1`:                         func(h *Header) { h.MeasuredBy.Updates = 1 },
		`trained_by.cpu_seconds is 13`:                     func(h *Header) { h.TrainedBy.CPUSeconds = 13 },
		`trained_by.wall_seconds is 0 and`:                 func(h *Header) { h.TrainedBy.WallSeconds = 0 },
	} {
		bad := good
		change(&bad)
		if err := plausible(bad); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for name, want := range map[string]bool{
		"AMD EPYC, family 25, model 17": true, "Intel(R) Xeon(R) CPU @ 2.00GHz, family 6, model 85": true, "linux/arm64": true, "Apple M2": true,
		"AMD EPYC, family 25": false, "AMD EPYC, family x, model 1": false, "AMD EPYC 9R14": false, "family 25, model 17": false,
	} {
		if err := checkProcessor("0123456789ab", name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := good
	bad.TrainedBy, bad.MeasuredBy.CPU, bad.MeasuredBy.Threads = Provenance{}, "", 0
	if got, want := missing(bad), "trained_by; measured_by cpu threads"; got != want {
		t.Errorf("missing %q, want %q", got, want)
	}
}
