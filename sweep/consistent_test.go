package sweep

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What contradicts the configuration is an error that names the field; configurations that lack a field contradict nothing. Results of version 0.1
// have a choice of their own.
func TestConsistent(t *testing.T) {
	good := example()
	good.Config = json.RawMessage(`{"seed": 2, "training": {"steps": 60, "best_by_accuracy": false}}`)
	good.Curve = &Curve{Updates: []int64{40, 60}, Seconds: []float64{0.5, 1.6}, Validation: []float64{0.25, 0.5}}
	for says, change := range map[string]func(*Result){
		"":                              func(*Result) {},
		"<nil>, none of the fields":     func(r *Result) { r.Config = json.RawMessage(`{"name": "n"}`) },
		"<nil>, patience":               func(r *Result) { r.Stopped, r.Config = "patience", json.RawMessage(`{"training": {"steps": 90}}`) },
		"<nil>, version 0.1":            func(r *Result) { *r = byAccuracy(*r, byPonder, "0.1.0") },
		`chosen_by is "validation acc`:  func(r *Result) { *r = byAccuracy(*r, ByAccuracy, "0.1.0") },
		`by config.training it is "val`: func(r *Result) { *r = byAccuracy(*r, byPonder, "0.2.0") },
		"seed is 3, but config.seed":    func(r *Result) { r.Seed = 3 },
		`stopped is "banana"`:           func(r *Result) { r.Stopped = "banana" },
		`stopped is ""`:                 func(r *Result) { r.Stopped = "" },
		"step is 61, but config":        func(r *Result) { r.Step, r.Stopped = 61, "patience" },
		`step is 59 and stopped "done"`: func(r *Result) { r.Step, r.Curve = 59, nil },
		`chosen_by is "test accuracy"`:  func(r *Result) { r.ChosenBy = "test accuracy" },
		"curve.seconds[1] is 1.6":       func(r *Result) { r.Seconds = 0.5 },
		"curve.seconds[1] is 1.6, but":  func(r *Result) { r.Seconds = 150 },
	} {
		r := good
		change(&r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(data)
		if want, _, _ := strings.Cut(says, ","); !strings.Contains(fmt.Sprint(err), want) || says == "" && err != nil {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// byAccuracy returns a result whose checkpoint was chosen by accuracy, in the words of a version.
func byAccuracy(r Result, words, version string) Result {
	r.ChosenBy, r.MeasuredBy.Version = words, version
	r.Config = json.RawMessage(`{"training": {"best_by_accuracy": true}}`)
	return r
}

// Two seeds with the same time and validation are one run; two recipes, or one of both figures alone, are not.
func TestRepeated(t *testing.T) {
	one := example()
	for says, change := range map[string]func(*Result){
		"have the same seconds, 1.5": func(*Result) {},
		"":                           func(r *Result) { r.Recipe = "widths/gru" },
		"<nil>, another time":        func(r *Result) { r.Seconds = 1.25 },
		"<nil>, another validation":  func(r *Result) { r.Validation = 0.5 },
	} {
		root, two := t.TempDir(), one
		two.Seed = 1
		change(&two)
		for _, r := range []Result{one, two} {
			if err := r.Save(root); err != nil {
				t.Fatal(err)
			}
		}
		_, err := ReadAll(root)
		if want, _, _ := strings.Cut(says, ", another"); !strings.Contains(fmt.Sprint(err), want) || want == "" && err != nil {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
