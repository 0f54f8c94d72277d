package experiment_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
)

// Every named experiment is valid, has the name it is listed under, says what it is, and is itself again after being written and read.
// Caught when planted: a variant that does not replace the default; two entries of one name.
func TestEveryExperimentIsWhatItsJSONSays(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range experiment.List {
		if seen[e.Name] {
			t.Errorf("%s is listed twice", e.Name)
		}
		if seen[e.Name] = true; e.Summary == "" {
			t.Errorf("%s has no summary", e.Name)
		}
		r, err := experiment.Named(e.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if r.Name != e.Name {
			t.Errorf("%s calls itself %s", e.Name, r.Name)
		}
		if e.Name == "base" { // is completed by its user
			r.Task = experiment.Copy().Task
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		again, err := experiment.Parse(r.JSON())
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%s: written and read again it is %+v, %v", e.Name, again, err)
		}
		if !bytes.Equal(again.JSON(), r.JSON()) {
			t.Errorf("%s: its JSON differs from that of the same read again", e.Name)
		}
	}
}

// What a file leaves out is as in Base; naming a variant replaces the default's.
func TestParseCompletesFromBase(t *testing.T) {
	r, err := experiment.Parse([]byte(`{"task": {"copy": {}}, "model": {"halting": {"length": {}}, "width": 8, "heads": 2}, "training": {"schedule": {"constant": {"rate": 1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Base()
	switch {
	case r.Model.Halting.Length == nil || r.Model.Halting.Frozen != nil:
		t.Errorf("halting is %+v", r.Model.Halting)
	case r.Training.Schedule.Constant == nil || r.Training.Schedule.Cosine != nil:
		t.Errorf("schedule is %+v", r.Training.Schedule)
	case r.Model.Width != 8 || !reflect.DeepEqual(r.Model.Transition, want.Model.Transition) || r.Training.Beta2 != want.Training.Beta2:
		t.Errorf("%s", r.JSON())
	}
}

// What is wrong is named, with its value, and where there is one the nearest valid name.
// Caught when planted: the first of two variants taken; a run that is not validated; a field that JSON leaves out.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                              "JSON",
		`{"task": {"copy": {}}, "sed": 3}`:               `did you mean "seed"?`,
		`{"task": {"copi": {}}}`:                         `did you mean`,
		`{"task": {"copy": {"bse": 10}}}`:                `did you mean`,
		`{"task": {}}`:                                   "task is missing: name one of copy, reverse, addition, table",
		`{"task": {"copy": {}, "reverse": {}}}`:          "task names copy and reverse: choose one",
		`{"task": {"copy": {"base": 1}}}`:                "task.copy: base is 1",
		`{"name": "", "task": {"copy": {}}}`:             "name is empty",
		`{"task": {"copy": {}}, "seed": -1}`:             "seed",
		`{"task": {"copy": {}}, "seed": "many"}`:         "seed",
		`{"task": {"copy": {}}, "model": {"width": 10}}`: "model.heads is 4, which does not divide width 10",
		`{"task": {"copy": {}}, "model": {"widht": 16}}`: `did you mean`,
		`{"task": {"copy": {}}, "model": {"halting": {"fixed": {"steps": 3}, "graves": {"max_steps": 3}}}}`:           "model.halting names fixed and graves: choose one",
		`{"task": {"copy": {}}, "model": {"halting": {}}}`:                                                            "model.halting is missing: name one of fixed, length, listing, graves, frozen",
		`{"task": {"copy": {}}, "model": {"halting": {"fixed": {"steps": -2}}}}`:                                      "halting.steps is -2",
		`{"task": {"copy": {}}, "model": {"transition": {"feedforward": {}}}}`:                                        "model.transition.filter is 0",
		`{"task": {"copy": {}}, "model": {"transition": {"separable_convolution": {"filter": 8, "widths": [3, 0]}}}}`: "model.transition.widths has 0",
		`{"task": {"copy": {}}, "model": {"positions": {"max": 20}}}`:                                                 "model.positions.max is 20, but training sequences have up to 41",
		`{"task": {"copy": {}}, "model": {"dropout": {"residual": 1}}}`:                                               "model.dropout.residual is 1",
		`{"task": {"copy": {}}, "training": {"steps": 0}}`:                                                            "training.steps is 0",
		`{"task": {"copy": {}}, "training": {"held_out": -1}}`:                                                        "training.held_out is -1",
		`{"task": {"copy": {}}, "training": {"batch": {"tokens": 0}}}`:                                                "training.batch.tokens is 0",
		`{"task": {"copy": {}}, "training": {"batch": {"boundaries": [4, 3]}}}`:                                       "boundaries are [4 3]: they must be positive and rise",
		`{"task": {"copy": {}}, "training": {"schedule": {"constant": {}}}}`:                                          "training.schedule.constant.rate is 0: it must be positive",
		`{"task": {"copy": {}}, "training": {"schedule": {"cosine": {"peak": 1, "floor": 2}}}}`:                       "the floor between 0 and the peak",
	} {
		_, err := experiment.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n  gives %v\n  want  %s", text, err, want)
		}
	}
	if _, err := experiment.Named("revers"); err == nil || !strings.Contains(err.Error(), `did you mean "reverse"?`) {
		t.Error(err)
	}
}

// Caught when planted: whole numbers read as floating-point ones; text that is no JSON lost.
func TestSet(t *testing.T) {
	for _, test := range []struct {
		set  []string
		want string // an error's part; "" if it works
		get  func(experiment.Run) any
		is   any
	}{
		{[]string{"model.width=128"}, "", func(r experiment.Run) any { return r.Model.Width }, 128},
		{[]string{"task.reverse.max_length=20"}, "", func(r experiment.Run) any { return r.Task.Reverse.MaxLength }, 20},
		{[]string{"training.batch.boundaries=[5, 9]"}, "", func(r experiment.Run) any { return len(r.Training.Batch.Boundaries) }, 2},
		{[]string{"training.weight_decay=0.1"}, "", func(r experiment.Run) any { return r.Training.WeightDecay }, 0.1}, // absent while it is zero
		{[]string{"training.weight_deacy=0.1"}, `key "training.weight_deacy" is not known`, nil, nil},
		{[]string{"name=mine"}, "", func(r experiment.Run) any { return r.Name }, "mine"},
		{[]string{"seed=18446744073709551615"}, "", func(r experiment.Run) any { return r.Seed }, uint64(18446744073709551615)},
		{[]string{`model.halting={"fixed": {"steps": 6}}`}, "", func(r experiment.Run) any { return r.Model.Halting.Fixed.Steps }, 6},
		{[]string{"model.width=60", "model.heads=6"}, "", func(r experiment.Run) any { return r.Model.Width / r.Model.Heads }, 10},
		{[]string{"model.width=60", "model.heads=7"}, "model.heads is 7, which does not divide width 60", nil, nil},
		{[]string{"model.widht=128"}, `key "model.widht" is not known: did you mean "model.width"?`, nil, nil},
		{[]string{"mdel.width=128"}, `did you mean "model.width"?`, nil, nil},
		{[]string{"task.reverse.maxlength=3"}, `did you mean "task.reverse.max_length"?`, nil, nil},
		{[]string{"model.width.x=3"}, `"width" has no fields`, nil, nil},
		{[]string{"model.width"}, "write path=value", nil, nil},
		{[]string{"model.width=wide"}, "model.width", nil, nil},
		{[]string{"model.width=-1"}, "model.width is -1", nil, nil},
	} {
		before := experiment.Demo()
		r, err := before.Set(test.set...)
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v, want %s", test.set, err, test.want)
			}
		case err != nil:
			t.Errorf("%v: %v", test.set, err)
		case test.get(r) != test.is:
			t.Errorf("%v gives %v, want %v", test.set, test.get(r), test.is)
		case r.Training.Beta2 != before.Training.Beta2 || r.Training.Stop != before.Training.Stop:
			t.Errorf("%v changes more: %s", test.set, r.JSON())
		}
		if !reflect.DeepEqual(before, experiment.Demo()) {
			t.Errorf("%v changes the run it was asked of", test.set)
		}
	}
}

// Whatever the text, Parse gives an error or a run that is valid, complete, and stable under writing and reading.
func FuzzParse(f *testing.F) {
	for _, e := range experiment.List {
		f.Add(e.Run().JSON())
	}
	f.Add([]byte(`{"task": {"table": {"path": "x.tsv"}}, "model": {"positions": {"max": 3, "gaps": true}}}`))
	f.Add([]byte(`{"task": {"copy": null}, "training": {"schedule": null}}`))
	f.Add([]byte(`{"task": {"addition": {"base": 2}}, "model": null, "training": {"batch": {"rows": 1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := experiment.Parse(data)
		if err != nil {
			return
		}
		if !json.Valid(r.JSON()) {
			t.Fatalf("%s", r.JSON())
		}
		again, err := experiment.Parse(r.JSON())
		if err != nil || !bytes.Equal(again.JSON(), r.JSON()) {
			t.Errorf("%s\nread again: %v\n%s", r.JSON(), err, again.JSON())
		}
	})
}
