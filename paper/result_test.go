package paper

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// answered1k is a result on one task with so many wrong answers of 1000, in validation and test.
func answered1k(experiment string, task int, seed uint64, validation, test int) Result {
	return Result{
		Header: Header{
			Version: "0.2.0", Experiment: experiment, Model: "a model", Task: babiTasks()[task-1], Seed: seed, Data: "d", Parameters: 36000,
			ChosenBy: byAccuracy, Seconds: 120, ExamplesPerSecond: 500, Threads: 2,
		},
		Measured: &babiMeasured{
			TrainingQuestions: 9000, Validation: babiErrors{1000, validation}, Tests: []babiTest{{Task: task, babiErrors: babiErrors{1000, test}}},
		},
		Config: []byte("{}"),
	}
}

// test1 is the first test of a result.
func test1(r Result) *babiTest { return &r.Measured.(*babiMeasured).Tests[0] }

// What is saved is read again; what was tampered with is one line that names the file and the place.
func TestReadAll(t *testing.T) {
	root := t.TempDir()
	if none, err := ReadAll(filepath.Join(root, "gone")); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
	b, a := answered1k("babi-1k-single", 2, 2, 1, 2), answered1k("babi-1k-single", 2, 1, 1, 2)
	test1(a).PonderTimes = []ponderTimes{{SupportingFacts: 2, Stories: 3, Positions: []int{0, 9}}}
	for _, r := range []Result{b, a} {
		if err := save(r, root); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadAll(root)
	if err != nil || len(got) != 2 || !reflect.DeepEqual(got[0], a) || got[1].Seed != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	path := filepath.Join(root, "babi-1k-single", "task02-seed1.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		"there is no value":                                                     {string(good), ""},
		`unknown key "secnds": did you mean "seconds"`:                          {`"seconds"`, `"secnds"`},
		`unknown key "wrnog" in tests[0]`:                                       {"\"wrong\": 2,", "\"wrnog\": 2,"},
		"measured.tests[0].wrong is 2000 of 1000":                               {`"wrong": 2,`, `"wrong": 2000,`},
		"measured.tests[0].task is 21":                                          {`"task": 2,`, `"task": 21,`},
		"measured.validation.wrong is 1 of 0":                                   {"\"questions\": 1000,\n      \"wrong\": 1", "\"questions\": 0,\n      \"wrong\": 1"},
		"must be " + filepath.Join(root, "babi-1k-single", "task02-seed5.json"): {`"seed": 1`, `"seed": 5`},
		"wrong cannot be text":                                                  {`"wrong": 2,`, `"wrong": "2",`},
		"config is missing":                                                     {",\n  \"config\": {}", ""},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Fatalf("%q is not in %s", change[0], good)
		}
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAll(root); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := new(babiMeasured).Validate(); err == nil || err.Error() != "tests are missing" {
		t.Errorf("no tests: %v", err)
	}
}

// Whatever a file holds, it is read or refused, and what is read has what pages ask for.
func FuzzDecode(f *testing.F) {
	for _, file := range []string{"babi-10k-single-adaptive/task01-seed1.json", "babi-1k-joint/joint-seed1.json"} {
		data, err := os.ReadFile(filepath.Join("..", "results", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"experiment": "babi-1k-joint", "measured": null, "config": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		stored, err := sweep.Parse(data)
		if err != nil {
			return
		}
		r, err := Decode(stored)
		if err != nil {
			return
		}
		if r.Measured.Summary() == "" || r.how() == "" {
			t.Errorf("%+v", r)
		}
		Render([]Result{r}, t.TempDir(), ".")
	})
}
