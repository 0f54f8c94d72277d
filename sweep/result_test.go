package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// counted is something measured, for tests.
type counted struct {
	Correct int `json:"correct"`
	Total   int `json:"total"`
}

func (c *counted) Validate() error {
	if c.Correct < 0 || c.Correct > c.Total {
		return fmt.Errorf("correct is %d of %d", c.Correct, c.Total)
	}
	return nil
}

func (c *counted) Summary() string { return fmt.Sprintf("%d of %d", c.Correct, c.Total) }

func example() Result {
	return Result{
		Header: Header{
			Recipe: "widths/lstm", Seed: 2, Model: "a model", Data: "d", Parameters: 100, Step: 60, BestStep: 40, Validation: 0.25, ChosenBy: ByEntropy,
			Stopped: "done", Seconds: 1.5, Threads: 1,
			TrainedBy:  Provenance{Version: "0.2.0", Commit: "abc", Backend: "cpu:threads=1", CPU: "x", Threads: 1, WallSeconds: 1.5, CPUSeconds: 1.25, Updates: 60},
			MeasuredBy: Provenance{Version: "0.2.0"},
		},
		Measured: json.RawMessage(`{"correct": 3, "total": 4}`),
		Config:   json.RawMessage(`{"name": "n"}`),
	}
}

// What is saved is read again; what is missing, null, negative or unknown is one line that names the file and the field.
func TestReadIsStrict(t *testing.T) {
	root := t.TempDir()
	if err := example().Save(root); err != nil {
		t.Fatal(err)
	}
	all, err := ReadAll(root)
	if err != nil || len(all) != 1 || !reflect.DeepEqual(all[0].Header, example().Header) {
		t.Fatalf("%+v, %v", all, err)
	}
	m := &counted{}
	if err := all[0].Decode(m); err != nil || *m != (counted{3, 4}) {
		t.Errorf("%+v, %v", m, err)
	}
	path := filepath.Join(root, "widths", "lstm-seed2.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		"JSON: there is no value":               {string(good), ""},
		`did you mean "seconds"`:                {`"seconds"`, `"secnds"`},
		"parameters is missing":                 {`"parameters": 100,`, ``},
		"validation is missing":                 {`"validation": 0.25,`, ``},
		"parameters cannot be null":             {`"parameters": 100`, `"parameters": null`},
		"parameters is -1: it must not":         {`"parameters": 100`, `"parameters": -1`},
		"step is -60: it must not":              {`"step": 60`, `"step": -60`},
		"validation is -0.25: it must not":      {`"validation": 0.25`, `"validation": -0.25`},
		"best_step is 61: it must be at most":   {`"best_step": 40`, `"best_step": 61`},
		"trained_by.cpu_seconds is -1":          {`"cpu_seconds": 1.25`, `"cpu_seconds": -1`},
		"NaN":                                   {`"validation": 0.25`, `"validation": NaN`},
		`recipe is "../lstm"`:                   {`widths/lstm`, `../lstm`},
		"config is missing":                     {",\n  \"config\": {\n    \"name\": \"n\"\n  }", ""},
		"measured is [3]: it must be an object": {"{\n    \"correct\": 3,\n    \"total\": 4\n  }", "[3]"},
		`measured is [ "éé`:                     {"{\n    \"correct\": 3,\n    \"total\": 4\n  }", "[\n\"" + strings.Repeat("é", 50) + "\"]"},
		"its name must be":                      {`"seed": 2`, `"seed": 3`},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Fatalf("%q is not in %s", change[0], good)
		}
		if want == "NaN" {
			want = "invalid character 'N'"
		}
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAll(root); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Read(filepath.Join(root, "gone.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A validation of 0 is written and read. Version 0.1 did not record it, and its results remain without one.
// Caught when planted: a missing validation read as 0; 0 left out; 0 written for version 0.1.
func TestValidationOfZero(t *testing.T) {
	for version, want := range map[string]bool{"0.1.0": false, "0.2.0": true, "0.10.0": true} {
		r := example()
		r.Validation, r.MeasuredBy.Version = 0, version
		data, err := json.Marshal(r)
		if err != nil || strings.Contains(string(data), `"best_step":40,"validation":0,"chosen_by"`) != want {
			t.Errorf("version %s: %s, %v", version, data, err)
		}
		if back, err := Parse(data); err != nil || back.Validation != 0 {
			t.Errorf("version %s: %v, %v", version, back.Validation, err)
		}
	}
	path := filepath.Join("testdata", "earlier", "programs-large", "program-seed1.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	without := strings.Replace(string(data), "  \"validation\": 0.0961478679837943,\n", "", 1)
	if _, err := Parse([]byte(without)); len(without) == len(data) || fmt.Sprint(err) != "validation is missing" {
		t.Errorf("the earlier form: %v", err)
	}
}

// Missing and null counts of what was measured are errors, not zeros.
func TestDecodeIsStrict(t *testing.T) {
	for want, measured := range map[string]string{
		"measured: correct is missing":        `{"total": 4}`,
		"correct cannot be null":              `{"correct": null, "total": 4}`,
		`did you mean "total"`:                `{"correct": 1, "totl": 4}`,
		"measured.correct is 5 of 4":          `{"correct": 5, "total": 4}`,
		"cannot be 0.5: it must be a whole n": `{"correct": 0.5, "total": 4}`,
	} {
		r := example()
		r.Measured = json.RawMessage(measured)
		if err := r.Decode(&counted{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "widths/lstm-seed2") {
			t.Errorf("%s: %v, want %q", measured, err, want)
		}
	}
}

// Steps are means of at least one step, in at least one tenth of the positions.
func TestStepsAreValid(t *testing.T) {
	for want, steps := range map[string]string{
		"":                                    `"mean": 1.5, "deviation": 0.5, "tenths": [1, null, null, null, null, 2, null, null, null, null]`,
		"encoder_steps: mean is 0.9":          `"mean": 0.9, "deviation": 0.5, "tenths": [1, null, null, null, null, 2, null, null, null, null]`,
		"deviation -1":                        `"mean": 1.5, "deviation": -1, "tenths": [1, null, null, null, null, 2, null, null, null, null]`,
		"encoder_steps.tenths[5] is 0":        `"mean": 1.5, "deviation": 0.5, "tenths": [1, null, null, null, null, 0, null, null, null, null]`,
		"encoder_steps.tenths: none has a va": `"mean": 1.5, "deviation": 0.5, "tenths": [null, null, null, null, null, null, null, null, null, null]`,
		"encoder_steps.deviation is missing":  `"mean": 1.5, "tenths": [1, null, null, null, null, 2, null, null, null, null]`,
	} {
		r := example()
		r.Measured = json.RawMessage(`{"examples": 5, "lengths": "", "metrics": [{"name": "accuracy", "value": 0.5}], "encoder_steps": {` + steps + `}}`)
		if err := r.Decode(&Metrics{}); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", steps, err, want)
		}
	}
}

// A measurement has a figure. Caught when planted: no check.
func TestMetricsAreThere(t *testing.T) {
	r := example()
	r.Measured = json.RawMessage(`{"examples": 5, "lengths": "", "metrics": []}`)
	if err := r.Decode(&Metrics{}); err == nil || !strings.Contains(err.Error(), "measured.metrics is empty") {
		t.Error(err)
	}
}

// A result of version 0.2 is read: its experiment and task are the recipe, its version is that of the build that measured.
func TestReadEarlier(t *testing.T) {
	r, err := Read(filepath.Join("testdata", "earlier", "programs-large", "program-seed1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Recipe != "programs-large/program" || r.MeasuredBy != (Provenance{Version: "0.2.0", Commit: "70be9d05caaf"}) || r.TrainedBy.Recorded() || r.Parameters != 1345536 || r.Step != 9000 {
		t.Errorf("%+v", r.Header)
	}
	now, err := Read(filepath.Join("..", "results", "programs-large", "program-seed1.json"))
	if err != nil || !bytes.Equal(r.Measured, now.Measured) || now.TrainedBy.Device != "NVIDIA H200" {
		t.Errorf("the published result differs: %+v, %v", now.Header, err)
	}
}

// The folder of runs is told from that of results.
func TestReadAllRefusesRuns(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll(root); !errors.Is(err, ErrRuns) {
		t.Error(err)
	}
	if all, err := ReadAll(filepath.Join(root, "gone")); err != nil || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// A file of the folder that is missing, as behind a broken link, is an error and not a missing folder. The folder may be a link.
// Caught when planted: no results and no error in both cases.
func TestReadAllBehindLinks(t *testing.T) {
	root := t.TempDir()
	if err := example().Save(root); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if all, err := ReadAll(link); err != nil || len(all) != 1 {
		t.Errorf("a linked folder has %d results, %v", len(all), err)
	}
	broken := filepath.Join(root, "widths", "lstm-seed3.json")
	if err := os.Symlink(filepath.Join(root, "gone"), broken); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll(root); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), broken) {
		t.Errorf("a broken link: %v", err)
	}
}

// Whatever a file holds, it is refused or read with values that make sense, and then it is written as it was read.
func FuzzParse(f *testing.F) {
	data, err := json.Marshal(example())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"measured"`), []byte(`"curve": {"updates": [20, 40], "seconds": [0.5, 1], "training": [1, 0.5], "validation": [0.5, 0.25]}, "measured"`), 1))
	earlier, err := os.ReadFile(filepath.Join("testdata", "earlier", "programs-large", "program-seed1.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(earlier)
	f.Add([]byte(`{"experiment": "a", "measured": null, "config": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(again)
		if err != nil || !reflect.DeepEqual(back.Header, r.Header) || !reflect.DeepEqual(back.Curve, r.Curve) || r.Step < 0 || r.Validation < 0 || r.Parameters < 0 || strings.Contains(r.File(), "..") {
			t.Errorf("%+v is read back as %+v, %v", r.Header, back.Header, err)
		}
	})
}
