package runlog_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/runlog"
)

type row struct {
	Step int64   `json:"step"`
	Loss float64 `json:"loss"`
}

func appendRows(t *testing.T, r *runlog.Run, steps ...int64) {
	t.Helper()
	for _, s := range steps {
		if err := r.AppendMetrics(row{Step: s, Loss: 1 / float64(s+1)}); err != nil {
			t.Fatal(err)
		}
	}
}

// steps is the steps of all rows.
func steps(t *testing.T, r *runlog.Run) []int64 {
	t.Helper()
	rows, err := r.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, row := range rows {
		all = append(all, row.Step())
		if loss, ok := row.Number("loss"); !ok || loss != 1/float64(row.Step()+1) {
			t.Fatalf("row %v", row)
		}
	}
	return all
}

func metricsPath(r *runlog.Run) string { return filepath.Join(r.Dir(), "metrics.jsonl") }

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// line is an object with its checksum, as metrics.jsonl has it.
func line(object string) string {
	return fmt.Sprintf("%s,\"crc32\":\"%08x\"}\n", strings.TrimSuffix(object, "}"), crc32.ChecksumIEEE([]byte(object)))
}

func TestMetrics(t *testing.T) {
	r := create(t)
	if got := steps(t, r); len(got) != 0 {
		t.Errorf("a new run has rows %v", got)
	}
	appendRows(t, r, 0, 10, 10)
	r = reopen(t, r)
	appendRows(t, r, 20)
	if got := steps(t, r); !slices.Equal(got, []int64{0, 10, 10, 20}) {
		t.Errorf("rows %v", got)
	}
	want := line(fmt.Sprintf("{%q:%q}", "version", runlog.Version())) + line(`{"step":0,"loss":1}`)
	if got := content(t, metricsPath(r)); !strings.HasPrefix(got, want) {
		t.Errorf("metrics.jsonl is %s, want %s...", got, want)
	}
}

// The largest step is read as it was written, and so is the key of a checksum in an object within a row.
func TestAppendAccepts(t *testing.T) {
	r := create(t)
	if err := r.AppendMetrics(map[string]any{"step": int64(1<<53 - 1), "a": map[string]any{"crc32": "00000000"}}); err != nil {
		t.Fatal(err)
	}
	rows, err := r.Metrics()
	if err != nil || len(rows) != 1 || rows[0].Step() != 9007199254740991 || fmt.Sprint(rows[0]["a"]) != "map[crc32:00000000]" {
		t.Errorf("%v, %v", rows, err)
	}
}

// Rows that could not be read again are refused.
// Caught when planted: a key of the checksum that is first, or not a string; a step of 2^53.
func TestAppendRefuses(t *testing.T) {
	r := create(t)
	appendRows(t, r, 10)
	before := content(t, metricsPath(r))
	for name, bad := range map[string]any{
		"no step": map[string]int{"x": 1}, "step null": map[string]any{"step": nil}, "fraction": map[string]float64{"step": 10.5},
		"text": map[string]string{"step": "11"}, "backwards": row{Step: 9}, "NaN": row{Step: 11, Loss: math.NaN()}, "a list": []int{1},
	} {
		if err := r.AppendMetrics(bad); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for want, bad := range map[string]any{
		`metrics: the key "crc32" is reserved for the checksum`:        map[string]any{"step": 11, "a": 1, "crc32": "x"},
		`metrics: the key "crc32" is reserved`:                         map[string]any{"step": 11, "crc32": "x"}, // the first key
		`the key "crc32" is reserved for the`:                          map[string]any{"step": 11, "a": 1, "crc32": 7},
		"is not an integer of at least 0 and at most 9007199254740991": row{Step: 1 << 53},
		"metrics: []int does not encode to a JSON object":              []int{1},
	} {
		if err := r.AppendMetrics(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", bad, err, want)
		}
	}
	if got := content(t, metricsPath(r)); got != before {
		t.Errorf("refused rows change the file from %q to %q", before, got)
	}
}

// Whatever byte a killed process got to, readers see the rows before it and a resumed writer goes on after them.
func TestHalfWrittenLine(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2, 3)
	whole := content(t, metricsPath(r))
	lines := strings.SplitAfter(whole, "\n")
	for cut := range len(whole) {
		r.Close()
		if err := os.WriteFile(metricsPath(r), []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := max(0, strings.Count(whole[:cut], "\n")-1) // the first line is no row
		if got := steps(t, r); len(got) != kept {
			t.Fatalf("cut at %d: %v, want %d rows", cut, got, kept)
		}
		r = reopen(t, r)
		appendRows(t, r, 9)
		if want := strings.Join(lines[:max(1, kept+1)], "") + line(`{"step":9,"loss":0.1}`); content(t, metricsPath(r)) != want {
			t.Fatalf("cut at %d: %q, want %q", cut, content(t, metricsPath(r)), want)
		}
	}
}

func TestDamagedLineIsNamed(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2)
	r.Close()
	for damaged, want := range map[string]string{
		"rubbish\n":             "metrics.jsonl:4: not a JSON object",
		line(`{"step":1}`):      "metrics.jsonl:4: step 1 is not an integer of at least 2",
		line(`{"loss":1}`):      "metrics.jsonl:4: step <nil>",
		"[]\n":                  "metrics.jsonl:4: not a JSON object",
		"\x00\x00\n":            "metrics.jsonl:4: not a JSON object",
		line(`{"step":-1}`):     "metrics.jsonl:4: step -1",
		line(`{"step":1e300}`):  "metrics.jsonl:4: step 1e+300",
		"{\"step\":3}\n":        "metrics.jsonl:4: damaged: it has no valid checksum",
		line(`{"version":"1"}`): "metrics.jsonl:4: step <nil>",
	} {
		before := content(t, metricsPath(r))
		if err := os.WriteFile(metricsPath(r), []byte(before+damaged+line(`{"step":5}`)), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := r.Metrics(); len(rows) != 2 || !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d rows, %v, want those before the damage and %q", damaged, len(rows), err, want)
		}
		checkSetAside(t, r.Dir(), before, damaged+line(`{"step":5}`), want)
		if err := os.WriteFile(metricsPath(r), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSetAside resumes a run with damaged metrics. Nothing changes before Truncate, which copies the file and keeps its intact lines.
// Caught when planted: lines appended after damaged ones, a copy of the tail alone, a name that is used twice.
func checkSetAside(t *testing.T, dir, intact, damaged, want string) {
	t.Helper()
	path := filepath.Join(dir, "metrics.jsonl")
	r, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Damage(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%q: damage %v, want %q", damaged, err, want)
	}
	if err := r.AppendMetrics(row{Step: 9}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%q: append: %v, want %q", damaged, err, want)
	}
	if got := content(t, path); got != intact+damaged {
		t.Errorf("%q: before Truncate the file is %q", damaged, got)
	}
	copies, err := filepath.Glob(path + ".damaged*")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Truncate(2); err != nil || r.Damage() != nil {
		t.Fatalf("%q: %v, %v", damaged, err, r.Damage())
	}
	if got := steps(t, r); !slices.Equal(got, []int64{1, 2}) || content(t, path) != intact {
		t.Errorf("%q: rows %v", damaged, got)
	}
	all, err := filepath.Glob(path + ".damaged*")
	if err != nil || len(all) != len(copies)+1 {
		t.Fatalf("%q: copies %v, %v", damaged, all, err)
	}
	name := path + ".damaged"
	if len(copies) > 0 {
		name = fmt.Sprint(name, "-", len(all))
	}
	if content(t, name) != intact+damaged {
		t.Errorf("%q: the copy is %q", damaged, content(t, name))
	}
	appendRows(t, r, 3)
}

// The first line may be the damaged one.
func TestDamagedFirstLine(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2)
	whole := content(t, metricsPath(r))
	r.Close()
	if err := os.WriteFile(metricsPath(r), []byte("x"+whole), 0o600); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	if err := r.Truncate(2); err != nil {
		t.Fatal(err)
	}
	appendRows(t, r, 1, 2)
	if got := content(t, metricsPath(r)); got != whole {
		t.Errorf("the file is %q, want %q", got, whole)
	}
}

// A bit that is changed anywhere, or a byte that is missing, names its line; but for the end of the last line, which is then one that
// was cut short.
// Caught when planted: a checksum that is not looked at, a line that passes for one of a version without checksums.
func TestChangedMetricsAreNamed(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2, 3)
	r.Close()
	whole := content(t, metricsPath(r))
	for i := range whole {
		damaged := []string{whole[:i] + whole[i+1:]}
		for bit := range 8 {
			changed := []byte(whole)
			changed[i] ^= 1 << bit
			damaged = append(damaged, string(changed))
		}
		for _, data := range damaged {
			if err := os.WriteFile(metricsPath(r), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			rows, err := r.Metrics()
			torn := i == len(whole)-1
			if torn && (err != nil || len(rows) != 2) || !torn && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("metrics.jsonl:%d: ", 1+strings.Count(whole[:i], "\n")))) {
				t.Fatalf("byte %d of %q: %d rows, %v", i, data, len(rows), err)
			}
		}
	}
}

// Lines of versions without checksums are read, and go on with them.
func TestMetricsOfEarlierVersions(t *testing.T) {
	r := create(t)
	r.Close()
	if err := os.WriteFile(metricsPath(r), []byte("{\"version\":\"0.2.0\"}\n{\"step\":1,\"loss\":0.5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	appendRows(t, r, 2)
	if got := steps(t, r); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("rows %v", got)
	}
}

// Going on after Truncate gives the file that a run without interruption writes, byte for byte.
func TestTruncateRepeatsExactly(t *testing.T) {
	all := []int64{1, 2, 2, 5, 7, 7, 9}
	r := create(t)
	appendRows(t, r, all...)
	want := content(t, metricsPath(r))
	for _, after := range []int64{9, 8, 7, 4, 2, 1, 0, 100, -1} {
		if err := r.Truncate(after); err != nil {
			t.Fatal(err)
		}
		kept := slices.DeleteFunc(slices.Clone(all), func(s int64) bool { return s > after })
		if got := steps(t, r); !slices.Equal(got, kept) {
			t.Fatalf("after step %d: %v, want %v", after, got, kept)
		}
		appendRows(t, r, all[len(kept):]...)
		if got := content(t, metricsPath(r)); got != want {
			t.Fatalf("after step %d and again:\n%s, want\n%s", after, got, want)
		}
		r = reopen(t, r)
	}
}

// Without a first line that names the version, the first row is removed like any other, and the file then begins with that line.
// Caught when planted: a first row that stays; rows of which none stays.
func TestTruncateWithoutAFirstLine(t *testing.T) {
	for after, want := range map[int64][]int64{-1: nil, 0: nil, 3: nil, 4: {4}, 7: {4, 7}} {
		r := create(t)
		r.Close()
		if err := os.WriteFile(metricsPath(r), []byte(line(`{"step":4,"loss":0.2}`)+line(`{"step":7,"loss":0.125}`)), 0o600); err != nil {
			t.Fatal(err)
		}
		r = reopen(t, r)
		if err := r.Truncate(after); err != nil {
			t.Fatal(err)
		}
		if got := steps(t, r); !slices.Equal(got, want) {
			t.Errorf("after step %d: rows %v, want %v", after, got, want)
		}
		if has := strings.HasPrefix(content(t, metricsPath(r)), `{"version":`); has != (want == nil) {
			t.Errorf("after step %d: %s", after, content(t, metricsPath(r)))
		}
	}
}
