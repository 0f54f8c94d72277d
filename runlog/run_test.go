package runlog_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

type config struct {
	Task  string `json:"task"`
	Steps int    `json:"steps"`
}

var example = config{Task: "reverse", Steps: 7}

func create(t *testing.T) *runlog.Run {
	t.Helper()
	r, err := runlog.Create(filepath.Join(t.TempDir(), "parents", "run"), example)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// reopen closes a run and resumes it.
func reopen(t *testing.T, r *runlog.Run) *runlog.Run {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := runlog.Resume(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

func TestConfig(t *testing.T) {
	r := create(t)
	data, err := os.ReadFile(filepath.Join(r.Dir(), "config.json"))
	if want := "{\n  \"version\": \"" + runlog.Version() + "\",\n  \"task\": \"reverse\",\n  \"steps\": 7\n}\n"; err != nil || string(data) != want {
		t.Errorf("config.json is %s, %v, want %s", data, err, want)
	}
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var back config
	if err := reader.Config(&back); err != nil || back != example {
		t.Errorf("read back %+v, %v", back, err)
	}
	var other struct {
		Task string `json:"task"`
		Step int    `json:"step"`
	}
	if err := reader.Config(&other); err == nil || !strings.Contains(err.Error(), `config.json: unknown key "steps": did you mean "step"?`) {
		t.Errorf("a configuration of another kind: %v", err)
	}
}

// A version is let through wherever a person puts it, and places in what remains stay what they were.
func TestDecodeConfig(t *testing.T) {
	for _, data := range []string{
		`{"version": "1", "task": "a", "steps": 2}`, `{"task": "a", "version": "1", "steps": 2}`, `{"task": "a", "steps": 2, "version": "1"}`,
		"{\n\"task\": \"a\",\n\"version\"\n:\n{\"x\": [1]}\n,\n\"steps\": 2}", `{"task": "a", "steps": 2}`,
	} {
		var c config
		if err := runlog.DecodeConfig([]byte(data), &c); err != nil || c != (config{"a", 2}) {
			t.Errorf("%s is %+v, %v", data, c, err)
		}
	}
	for data, want := range map[string]string{
		"{\"version\": \"1\",\n  \"steps\": x}": "line 2, column 12",
		`{"version": "1", "tesk": "a"}`:         `did you mean "task"?`,
		`{"version": "1"} {}`:                   "line 1, column 18: data follows the value",
		`{"task": {"version": 1}}`:              "cannot be an object",
		`[]`:                                    "cannot be a list",
		``:                                      "no value",
		`{"version": "1", "version": "2"}`:      `unknown key "version"`,
		"{\"version\":\n1, \"steps\": \n\n \"a\"}":     "line 4, column",
		`{"version": "1" "task": "a"}`:                 "line 1, column 17",
		`{"version": "1", "steps": 1, "steps": 2}`:     "twice",
		`{"version": "1",}`:                            "column",
		`{,"version": "1"}`:                            "line 1, column 2",
		"{\"steps\": 1,\n \"version\": \"1\",\n \"\"}": "line 3",
	} {
		var c config
		if err := runlog.DecodeConfig([]byte(data), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add([]byte(`{"version": "1", "task": "a", "steps": 2}`))
	f.Add([]byte(`{"task": "a", "version": {"x": "version"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict config
		if err := runlog.DecodeConfig(data, &strict); err != nil {
			return
		}
		var lax config
		if err := json.Unmarshal(data, &lax); err != nil && json.Valid(data) || lax != strict {
			t.Fatalf("%q: %+v, else %+v, %v", data, strict, lax, err)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	r := create(t)
	if _, err := runlog.Create(r.Dir(), example); !errors.Is(err, runlog.ErrExists) || !errors.Is(err, runlog.ErrInUse) || !strings.Contains(err.Error(), "wait until that has ended") {
		t.Errorf("a directory with a run that is being written: %v", err) // caught when planted: the lock not looked at
	}
	r.Close()
	if _, err := runlog.Create(r.Dir(), example); !errors.Is(err, runlog.ErrExists) || errors.Is(err, runlog.ErrInUse) {
		t.Errorf("a directory with a run: %v", err)
	}
	foreign := t.TempDir()
	file := filepath.Join(foreign, "thesis.txt")
	if err := os.WriteFile(file, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	sub := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(sub, "traces"), 0o700), os.WriteFile(filepath.Join(sub, "traces", "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	metrics := t.TempDir()
	if err := os.WriteFile(filepath.Join(metrics, "metrics.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	hidden := t.TempDir()
	if err := os.WriteFile(filepath.Join(hidden, ".anything.tmp"), []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		hidden:                     "is not empty (it has .anything.tmp)",
		foreign:                    "is not empty (it has thesis.txt)",
		sub:                        "is not empty (it has files in traces)",
		metrics:                    "is not empty (it has metrics.jsonl)",
		file:                       "is a file, not a directory: choose another name",
		filepath.Join(file, "run"): "not a directory",
	} {
		_, err := runlog.Create(dir, example)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
	if entries, _ := os.ReadDir(foreign); len(entries) != 1 {
		t.Errorf("the foreign directory now has %v", entries)
	}
	for _, bad := range []any{3, []int{1}, map[string]any{"version": 1}, func() {}} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := runlog.Create(dir, bad); err == nil {
			t.Errorf("%v is accepted as a configuration", bad)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("a bad configuration leaves %s", dir)
		}
	}
}

// A Create that was killed leaves no run and nothing that stands in the way of the next.
func TestCreateAfterAnInterruptedOne(t *testing.T) {
	r := create(t)
	r.Close()
	for _, name := range []string{"config.json", "metrics.jsonl"} {
		if err := os.Remove(filepath.Join(r.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), ".config.json.123.tmp"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runlog.Open(r.Dir()); !errors.Is(err, runlog.ErrNotRun) {
		t.Errorf("half a run is opened: %v", err)
	}
	again, err := runlog.Create(r.Dir(), example)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if _, err := os.Stat(filepath.Join(r.Dir(), ".config.json.123.tmp")); err == nil {
		t.Error("what the interrupted one had begun is still there")
	}
}

// A resume removes what a killed process left half-written, and nothing of the user's.
func TestResumeClearsAwayTemporaryFiles(t *testing.T) {
	r := create(t)
	mine := []string{filepath.Join(r.Dir(), ".anything.tmp"), filepath.Join(r.Dir(), ".notes.12.tmp"), filepath.Join(r.Dir(), "checkpoints", ".step-1.safetensors.2.tmp"),
		filepath.Join(r.Dir(), "traces", ".t.tmp"), filepath.Join(r.Dir(), "export", ".paper.tex.4.tmp")}
	leftovers := []string{filepath.Join(r.Dir(), ".best.json.1.tmp"), filepath.Join(r.Dir(), "checkpoints", ".step-000000001.safetensors.2.tmp"),
		filepath.Join(r.Dir(), "traces", ".t.html.3.tmp"), filepath.Join(r.Dir(), "export", ".model.safetensors.4.tmp")}
	for _, path := range append(mine, leftovers...) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	reopen(t, r)
	for _, path := range leftovers {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range mine {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a file of the user's is gone: %v", err)
		}
	}
}

// A run directory without a name is refused, and the working directory stays as it is.
// Caught when planted: a run that is created, opened or resumed in the working directory.
func TestRunWithoutAName(t *testing.T) {
	t.Chdir(t.TempDir())
	const want = `the run directory is "": name a folder`
	for _, content := range []string{"", "{}\n"} { // without and with a run
		if content != "" {
			if err := os.WriteFile("config.json", []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, created := runlog.Create("", example)
		_, opened := runlog.Open("")
		_, resumed := runlog.Resume("")
		for _, err := range []error{created, opened, resumed, runlog.CheckVacant("")} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("the working directory has %v, %v", entries, err)
	}
}

// A folder of a run that cannot be searched for remains is an error of Resume, which gives the lock back.
func TestResumeWithoutAFolder(t *testing.T) {
	r := create(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"traces", "export", "checkpoints"} {
		path := filepath.Join(r.Dir(), name)
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := runlog.Resume(r.Dir()); err == nil || !strings.HasPrefix(err.Error(), "cannot resume "+r.Dir()) || !strings.Contains(err.Error(), path) || r.InUse() {
			t.Errorf("a file in place of %s: %v; in use: %v", name, err, r.InUse())
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		again, err := runlog.Resume(r.Dir()) // without the folder
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJSONTraceAndExport(t *testing.T) {
	r := create(t)
	if err := r.WriteJSON("vocabulary.json", map[string][]string{"tokens": {"a"}}); err != nil {
		t.Fatal(err)
	}
	var v struct {
		Tokens []string `json:"tokens"`
	}
	if err := r.ReadJSON("vocabulary.json", &v); err != nil || len(v.Tokens) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	path, err := r.WriteTrace("t.html", []byte("page"))
	if data, _ := os.ReadFile(path); err != nil || string(data) != "page" || filepath.Base(filepath.Dir(path)) != "traces" {
		t.Errorf("trace %s holds %q, %v", path, data, err)
	}
	for _, name := range []string{"../t.html", "", ".", "a/b", ".hidden"} {
		if _, err := r.WriteTrace(name, nil); err == nil {
			t.Errorf("trace %q is written", name)
		}
	}
	x, err := safetensors.New("x", []int{2}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := r.WriteExport(&safetensors.File{Metadata: map[string]string{"a": "b"}, Tensors: []safetensors.Tensor{x}}, example)
	if err != nil {
		t.Fatal(err)
	}
	var back config
	f, err := runlog.ReadExport(dir, &back)
	if err != nil || back != example || f.Metadata["version"] != runlog.Version() || f.Metadata["a"] != "b" || string(f.Tensors[0].Data) != string(x.Data) {
		t.Errorf("export reads back as %+v, %+v, %v", f, back, err)
	}
}
