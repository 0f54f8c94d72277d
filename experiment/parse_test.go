package experiment_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/halting"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// The complete form of a run is read as the run, and says fields at zero too, which the short form leaves out: in embedded configurations, in
// choices and in lists. Caught when planted: choices written short; elements of lists written short; fields of embedded structs left out.
func TestComplete(t *testing.T) {
	for _, e := range recipes.All() {
		r := e.Run()
		again, err := experiment.Decode(r.Complete())
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%s: read again it is %+v, %v", e.Name, again, err)
		}
	}
	var complete, short struct {
		Task struct {
			Translation struct{ Training []map[string]any }
		}
		Model struct {
			Kind map[string]any `json:"encoder_decoder"`
		}
		Training map[string]any
	}
	for data, into := range map[string]any{string(recipes.MustRun("translation-tiny/multi30k").Complete()): &complete, string(recipes.MustRun("translation-tiny/multi30k").JSON()): &short} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		complete, short map[string]any
		field           string
		want            any
	}{
		{complete.Training, short.Training, "muon", 0.0}, {complete.Training, short.Training, "best_by_accuracy", false},
		{complete.Model.Kind, short.Model.Kind, "embedding_width", 0.0},
		{complete.Task.Translation.Training[0], short.Task.Translation.Training[0], "pairs", ""},
	} {
		if have, there := test.complete[test.field]; !there || have != test.want {
			t.Errorf("%s is %v, want %v", test.field, have, test.want)
		}
		if _, there := test.short[test.field]; there {
			t.Errorf("the short form has %s", test.field)
		}
	}
}

// kind is the shared part of an encoder-decoder run.
func kind(r experiment.Run) experiment.Universal {
	return r.Model.Value.(experiment.EncoderDecoder).Universal
}

// Fields missing from a file take their values from Defaults. Naming a variant replaces the default variant; its missing fields take the
// variant's own defaults, whatever was there before. Set does the same.
// Caught when planted: fields of the choice before that stay; fields that are zero in place of their defaults.
func TestParseCompletes(t *testing.T) {
	r, err := experiment.Parse([]byte(`{"task": {"copy": {}}, "model": {"encoder_decoder": {"halting": {"graves": {"max_steps": 7}}, "width": 8, "heads": 2}}, "training": {"schedule": {"cosine": {"peak": 0.002}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Defaults()
	if got := kind(r).Halting.Value; got != (halting.Graves{ACT: halting.ACT{MaxSteps: 7, Epsilon: 0.01}}) {
		t.Errorf("halting is %+v", got)
	}
	if got := r.Training.Schedule.Value; got != (schedule.Cosine{Peak: 0.002, Floor: 5e-5, Warmup: 200}) {
		t.Errorf("schedule is %+v", got)
	}
	if kind(r).Width != 8 || !reflect.DeepEqual(kind(r).Transition, kind(want).Transition) || r.Training.Beta2 != want.Training.Beta2 {
		t.Errorf("%s", r.JSON())
	}
	other := want
	other.Task = r.Task
	other.Training.Schedule = experiment.Schedule{Value: schedule.Constant{LearningRate: 3}}
	set, err := other.Set(`model={"encoder_decoder": {"halting": {"graves": {"max_steps": 7}}, "width": 8, "heads": 2}}`, `training.schedule={"cosine": {"peak": 0.002}}`)
	if err != nil || !reflect.DeepEqual(set, r) {
		t.Errorf("set: %s, %v", set.JSON(), err)
	}
}

// What is wrong is named, with its value, and where there is one the nearest valid name.
// Caught when planted: the first of two variants taken; a run that is not validated; a field that JSON leaves out.
func TestParseRefuses(t *testing.T) {
	copying := func(model string) string {
		return `{"task": {"copy": {}}, "model": {"encoder_decoder": {` + model + `}}}`
	}
	for text, want := range map[string]string{
		`{`:                                              "JSON",
		`{"task": {"copy": {}}, "sed": 3}`:               `did you mean "seed"?`,
		`{"task": {"copi": {}}}`:                         `task "copi" is not known: did you mean "copy"?`,
		`{"task": {"copy": {"bse": 10}}}`:                `unknown key "bse" in task.copy: did you mean "base"?`,
		`{"task": {"copy": {"base": "ten"}}}`:            "task.copy: base cannot be text",
		`{"task": {}}`:                                   "task is missing: name a task",
		`{"task": []}`:                                   "task must be an object that names one of copy, ",
		`{"task": {"copy": {}, "reverse": {}}}`:          "task names copy and reverse: choose one",
		`{"task": {"copy": {"base": 1}}}`:                "task.copy.base is 1",
		`{"task": {"table": {}}}`:                        "task.table.path is empty",
		`{"name": "", "task": {"copy": {}}}`:             "name is empty",
		`{"name": "a\u001b[1mb", "task": {"copy": {}}}`:  `name is "a\x1b[1mb": it must have no control characters`,
		`{"task": {"copy": {}}, "seed": -1}`:             "seed",
		`{"task": {"copy": {}}, "seed": "many"}`:         "seed",
		`{"task": {"copy": {}}, "model": {"width": 10}}`: `model "width" is not known`,
		`{"task": {"babi": {"path": "x"}}, "model": {"encoder_decoder": {}}}`: `model.encoder_decoder does not fit task.babi, whose answers are classes: write "model": {"classifier": {...}}`,
		`{"task": {"copy": {}}, "model": {"classifier": {"pool": "lst"}}}`:    `pool "lst" is not known: did you mean "last"?`,
		`{"task": {"copy": {}}, "model": {"language_model": {}}}`:             `model.language_model does not fit task.copy`,
		copying(`"width": 10`): "model.encoder_decoder.heads is 4, which does not divide width 10",
		copying(`"widht": 16`): `unknown key "widht" in model.encoder_decoder: did you mean "width"?`,
		copying(`"halting": {"fixed": {"steps": 3}, "graves": {"max_steps": 3}}`): "model.halting names fixed and graves: choose one",
		copying(`"halting": {"fixed": {"steps": 3}, "graevs": {}}`):               `model.halting "graevs" is not known: did you mean "graves"?`,
		copying(`"halting": {}`):                                                                "model.halting is missing: name one of frozen, graves, listing, fixed, random, length",
		copying(`"halting": {"fixed": {"steps": -2}}`):                                          "model.halting.fixed.steps is -2",
		copying(`"halting": {"fixed": {"stesp": 2}}`):                                           `unknown key "stesp" in model.halting.fixed: did you mean "steps"?`,
		copying(`"transition": {"feedforward": {"filter": 0}}`):                                 "model.transition.feedforward.filter is 0",
		copying(`"transition": {"separable_convolution": {"filter": 8, "widths": [3, 0]}}`):     "model.transition.separable_convolution.widths has 0",
		copying(`"positions": {"random_offset": {"max": 0}}`):                                   "model.positions.random_offset.max is 0",
		copying(`"dropout": {"residual": 1}`):                                                   "model.encoder_decoder.dropout.residual is 1",
		`{"task": {"copy": {}}, "training": {"steps": 0}}`:                                      "training.steps is 0",
		`{"task": {"copy": {}}, "training": {"validation": -1}}`:                                "training.validation is -1",
		`{"task": {"copy": {}}, "training": {"validation_lengths": {"from": -1, "to": 3}}}`:     "training.validation_lengths.from is -1",
		`{"task": {"copy": {}}, "training": {"validation_lengths": {"from": 60, "to": 50}}}`:    "training.validation_lengths.to is 50: it must be at least from, which is 60",
		`{"task": {"copy": {}}, "training": {"validation_lengths": {"to": 10000000}}}`:          "training.validation_lengths.to is 10000000: it must be at most",
		`{"task": {"copy": {}}, "training": {"batch": {"tokens": 0}}}`:                          "training.batch.tokens is 0",
		`{"task": {"copy": {}}, "training": {"batch": {"boundaries": [4, 3]}}}`:                 "boundaries are [4 3]: they must be positive and increasing",
		`{"task": {"copy": {}}, "training": {"schedule": {"constant": {"rate": 0}}}}`:           "training.schedule.constant.rate is 0: it must be positive",
		`{"task": {"copy": {}}, "training": {"schedule": {"cosine": {"peak": 1, "floor": 2}}}}`: "training.schedule.cosine.floor is 2: it must be from 0 to the peak, 1",
	} {
		_, err := experiment.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n  gives %v\n  want  %s", text, err, want)
		}
	}
}

// Of several names of variants, the first unknown one is reported, in whatever order they are read.
// Caught when planted: names in the order of a map.
func TestSeveralNames(t *testing.T) {
	const text = `{"task": {"copy": {}}, "model": {"encoder_decoder": {"halting": {"fixed": {}, "graevs": {}, "frosen": {}, "graves": {}}}}}`
	const want = `model.halting "frosen" is not known: did you mean "frozen"?`
	for range 100 { // a map begins with either of the unknown names, so that the fault is missed with a probability of about 2^-100
		if _, err := experiment.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %s", err, want)
		}
	}
}

// Positions are drawn from a range that training sequences must fit. Caught when planted: a field of positions of another module.
func TestCheckPositions(t *testing.T) {
	r, err := recipes.MustRun("algorithmic-paper/copy").Set("model.positions.max=20")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := r.Task.Value.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.CheckPositions(opened); err == nil || !strings.Contains(err.Error(), "model.positions.max is 20, but training sequences have up to 41") {
		t.Error(err)
	}
	if err := recipes.MustRun("algorithmic-paper/copy").CheckPositions(opened); err != nil {
		t.Error(err)
	}
	m := r.Model.Value.(experiment.EncoderDecoder)
	m.Positions = experiment.Positions{Value: Ranged{universal.RandomOffset{Max: 20}}}
	r.Model.Value = m
	if err := r.CheckPositions(opened); err == nil || !strings.HasPrefix(err.Error(), "the limit of model.positions.go:Ranged is 20, but training sequences have up to 41") {
		t.Errorf("a type of another module: %v", err)
	}
}

// A fingerprint depends on what weights depend on, and not on where files lie or how training is logged.
// Caught when planted: a path in the fingerprint, a stand-in left out of it.
func TestFingerprint(t *testing.T) {
	base := recipes.MustRun("babi-10k-single/task01")
	for set, same := range map[string]bool{
		"task.path=elsewhere": true, "training.log_every=7": true, "name=x": true,
		"task.set=en": false, "model.width=128": false, "seed=2": false, "task.task=2": false, "model.pool=mean": false,
	} {
		changed, err := base.Set(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := changed.Fingerprint() == base.Fingerprint(); got != same {
			t.Errorf("%s: the same fingerprint: %v, want %v", set, got, same)
		}
	}
	with := func(file string) string {
		changed, err := base.Set("task.task=3", "task.stand_in="+file)
		if err != nil {
			t.Fatal(err)
		}
		return changed.Fingerprint()
	}
	if with("a/qa3_x") != with("b/qa3_x") || with("a/qa3_x") == with("a/qa3_y") {
		t.Error("a stand-in counts by its name alone")
	}
}

// A digest depends on everything but where files lie.
// Caught when planted: the training left out, a path in it.
func TestDigest(t *testing.T) {
	base := recipes.MustRun("babi-10k-single/task01")
	for set, same := range map[string]bool{
		"task.path=elsewhere": true, "training.log_every=7": false, "training.beta2=0.998": false, "training.schedule.constant.rate=0.5": false,
		"training.weigh_by_tokens=false": true, "training.weigh_by_tokens=true": false, "training.batch.rows=3": false, "training.pretrained=runs/a": false, "task.set=en": false, "model.width=128": false, "seed=2": false,
	} {
		changed, err := base.Set(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := changed.Digest() == base.Digest(); got != same {
			t.Errorf("%s: the same digest: %v, want %v", set, got, same)
		}
	}
}

// Where a pretrained run lies does not count, its name does; weights do not need it.
// Caught when planted: the path in the digest, and in what others are shown; names ended by the separators of this system alone.
func TestPretrainedIdentity(t *testing.T) {
	from := func(dir string) experiment.Run {
		r := recipes.MustRun("babi-10k-single/task01")
		r.Training.Pretrained = dir
		return r
	}
	a, other := from("runs/a"), from("runs/b")
	if a.Digest() == other.Digest() || a.Fingerprint() != other.Fingerprint() {
		t.Error("a pretrained run counts by its name, in the digest alone")
	}
	for _, path := range []string{"a", "/elsewhere/a", "runs/a//", `C:\runs\a`, `..\a\`} {
		moved := from(path)
		if a.Digest() != moved.Digest() {
			t.Errorf("%s has another digest than runs/a", path)
		}
		if got := moved.WithoutDirectories().Training.Pretrained; got != "a" {
			t.Errorf("%s without directories: %q, want a", path, got)
		}
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
		{[]string{"model.width=128"}, "", func(r experiment.Run) any { return kind(r).Width }, 128},
		{[]string{"model.encoder_decoder.width=128"}, "", func(r experiment.Run) any { return kind(r).Width }, 128},
		{[]string{"model.untied_layers=true", "model.halting.fixed.steps=3"}, "", func(r experiment.Run) any { return kind(r).UntiedLayers }, true},
		{[]string{"task.reverse.max_length=20"}, "", func(r experiment.Run) any { return r.Task.Value.(algorithmic.Reverse).MaxLength }, 20},
		{[]string{"task.max_length=20"}, "", func(r experiment.Run) any { return r.Task.Value.(algorithmic.Reverse).MaxLength }, 20},
		{[]string{"task.copy.max_length=20"}, "", func(r experiment.Run) any { return r.Task.Value.(algorithmic.Copy).MaxLength }, 20},
		{[]string{"task.babi.rename=true"}, "; task.babi replaces task.reverse: to keep that, leave out the fields of task.babi", nil, nil},
		{[]string{"training.batch.boundaries=[5, 9]"}, "", func(r experiment.Run) any { return len(r.Training.Batch.Boundaries) }, 2},
		{[]string{"training.weight_decay=0.1"}, "", func(r experiment.Run) any { return r.Training.WeightDecay }, 0.1}, // absent while it is zero
		{[]string{"training.weight_deacy=0.1"}, `key "training.weight_deacy" is not known`, nil, nil},
		{[]string{"name=mine"}, "", func(r experiment.Run) any { return r.Name }, "mine"},
		{[]string{"seed=18446744073709551615"}, "", func(r experiment.Run) any { return r.Seed }, uint64(18446744073709551615)},
		{[]string{`model.halting={"fixed": {"steps": 6}}`}, "", func(r experiment.Run) any { return kind(r).Halting.Value }, halting.Fixed{Steps: 6}},
		{[]string{"model.halting.fixed.steps=6"}, "", func(r experiment.Run) any { return kind(r).Halting.Value }, halting.Fixed{Steps: 6}},
		{[]string{"model.halting.max_steps=6"}, "", func(r experiment.Run) any { return kind(r).Halting.Value }, halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: -1}}},
		{[]string{"model.halting.frozn.max_steps=6"}, "model.halting.frozn", nil, nil},
		{[]string{"model.coordinates.tensor2tensor.alternate=true"}, "", func(r experiment.Run) any { return kind(r).Coordinates.Value }, universal.Tensor2Tensor{Alternate: true}},
		{[]string{`model.coordinates={"sinusoidal": {}}`}, "", func(r experiment.Run) any { return kind(r).Coordinates.Value }, universal.Sinusoidal{}},
		{[]string{"model.width=60", "model.heads=6"}, "", func(r experiment.Run) any { return kind(r).Width / kind(r).Heads }, 10},
		{[]string{"model.width=60", "model.heads=7"}, "heads is 7, which does not divide width 60", nil, nil},
		{[]string{"model.widht=128"}, `key "model.widht" is not known: did you mean "model.width"?`, nil, nil},
		{[]string{"mdel.width=128"}, `did you mean "model.width"?`, nil, nil},
		{[]string{"task.reverse.maxlength=3"}, `did you mean "task.reverse.max_length"?`, nil, nil},
		{[]string{"model.width.x=3"}, `"width" has no fields`, nil, nil},
		{[]string{"model.halting.fixd.steps=3"}, `did you mean "model.halting.fixed.steps"?`, nil, nil},
		{[]string{"training.schedule.linear=3"}, "training.schedule has peak, floor, warmup, start, end; other variants are cosine, inverse_square_root, constant", nil, nil},
		{[]string{"training.schedule.cosine.linear=3"}, "training.schedule.cosine has peak, floor, warmup", nil, nil},
		{[]string{"model.positions.learned.max=3"}, "other variants are from_one, random_offset, random_subset", nil, nil},
		{[]string{"model.positions.from_one={}", "model.positions.from_one.max=3"}, `key "model.positions.from_one.max" is not known`, nil, nil},
		{[]string{"training.best_by_accuracy=yes"}, "training.best_by_accuracy cannot be text: it must be true or false", nil, nil}, // absent while it is false
		{[]string{"model.coordinates=sinusoidal"}, "model.coordinates must be an object that names one of sinusoidal", nil, nil},
		{[]string{"model.transition.separable_convolution.widths=3"}, "widths cannot be a number: it must be a list", nil, nil},
		{[]string{"task.table.path=x", "task.table=y"}, "task.table cannot be text: it must be an object", nil, nil},
		{[]string{"seed=18446744073709551616"}, "seed cannot be 18446744073709551616: it must be a whole number of at most 18446744073709551615", nil, nil},
		{[]string{"model.width=-9223372036854775809"}, "it must be a whole number of at least -9223372036854775808", nil, nil},
		{[]string{"model.dropout.residual=1e999"}, "it must be a number of at most 1.7e308", nil, nil},
		{[]string{"version=5"}, `key "version" is not known`, nil, nil},
		{[]string{"model.dropout={}"}, "model.dropout={} sets no field, and fields that are left out have their defaults: set each field, as in model.dropout.attention=0", nil, nil},
		{[]string{"model.encoder_decoder.dropout={}"}, "model.encoder_decoder.dropout={} sets no field", nil, nil},
		{[]string{"training={}"}, "training={} sets no field", nil, nil},
		{[]string{"training.ponder_cost={}"}, "", func(r experiment.Run) any { return r.Training.PonderCost.IsZero() }, true},
		{[]string{"model.width"}, "write path=value", nil, nil},
		{[]string{"model.width=wide"}, "width", nil, nil},
		{[]string{"model.width=-1"}, "width is -1", nil, nil},
	} {
		before := recipes.MustRun("demo")
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
		if !reflect.DeepEqual(before, recipes.MustRun("demo")) {
			t.Errorf("%v changes the run it was asked of", test.set)
		}
	}
}

// FieldsWith assigns values that no run may have together, and removes what they replace. Two runs that differ in assigned fields alone
// have the same fields.
func TestFieldsWith(t *testing.T) {
	values := []string{"task.rename=false", "task.babi.rename_share=1", "training.batch.tokens=500", `model.transition={"feedforward": {"filter": 64}}`}
	plain := recipes.MustRun("babi-1k-single-renamed/task13")
	if _, err := plain.Set(values...); err == nil {
		t.Fatal("a run may have the values together: the test shows nothing")
	}
	other, err := plain.Set("training.batch.rows=7", "model.transition.feedforward.filter=16", "task.rename_share=0.25")
	if err != nil {
		t.Fatal(err)
	}
	x, err := plain.FieldsWith(values...)
	if err != nil {
		t.Fatal(err)
	}
	y, err := other.FieldsWith(values...)
	if err != nil || !reflect.DeepEqual(x, y) {
		t.Errorf("%v and %v, %v", x, y, err)
	}
	if x["task.babi.rename_share"] != json.Number("1") || x["task.babi.rename"] != false || x["training.batch.tokens"] != json.Number("500") || fmt.Sprint(x["training.batch.rows"]) != "0" {
		t.Errorf("%v", x)
	}
	if other, err = other.Set("training.weight_decay=0.7"); err != nil {
		t.Fatal(err)
	}
	if y, err := other.FieldsWith(values...); err != nil || reflect.DeepEqual(x, y) || y["training.weight_decay"] == x["training.weight_decay"] {
		t.Errorf("weight decay is %v and %v, %v", x["training.weight_decay"], y["training.weight_decay"], err)
	}
	if _, err := plain.FieldsWith("model.width.x=3"); err == nil {
		t.Error("no error for a field of a number")
	}
}

// A user's own runs have the norms in front of the sub-layers, also where a file states a part of the model only; the demo has them behind, as
// the paper prints them. Caught when planted: either of them changed.
func TestPlaceOfNorms(t *testing.T) {
	part, err := experiment.Parse([]byte(`{"task": {"copy": {}}, "model": {"encoder_decoder": {"width": 8, "heads": 2}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !kind(experiment.Defaults()).PreNorm || !kind(part).PreNorm || kind(recipes.MustRun("demo")).PreNorm {
		t.Errorf("norms in front: %v, %v, %v, want true, true, false", kind(experiment.Defaults()).PreNorm, kind(part).PreNorm, kind(recipes.MustRun("demo")).PreNorm)
	}
}

// A complete configuration does not take a value from Defaults: a field that it leaves out is zero. Caught when planted: Decode that starts from
// Defaults.
func TestDecodeIsComplete(t *testing.T) {
	r, err := experiment.Decode([]byte(`{"version": "0.1", "training": {"steps": 7}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Run{}
	want.Training.Steps = 7
	if !reflect.DeepEqual(r, want) {
		t.Errorf("decoded %+v, want only training.steps", r)
	}
	changed, err := recipes.MustRun("demo").Set(`training.batch={"rows": 3}`)
	if err != nil || changed.Training.Batch.Rows != 3 || changed.Training.Batch.Tokens != 0 {
		t.Errorf("a whole part that is set: %+v, %v", changed.Training.Batch, err)
	}
}

// A number is text where text is needed: columns are chosen by number, and files have such names.
func TestSetTextThatLooksLikeANumber(t *testing.T) {
	r, err := experiment.Defaults().Set("task.table.path=2024", "task.source_column=2", "task.target_column=1", "task.header=no", "model.width=32")
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := r.Task.Value.(table.Table); !ok || c.Path != "2024" || c.SourceColumn != "2" || c.TargetColumn != "1" || c.Header != "no" || r.Model.Value.Channels() != 32 {
		t.Errorf("%+v", r.Task.Value)
	}
	for _, assignment := range []string{"model.width=true", "task.table.max_length=x", "training.best_by_accuracy=3"} {
		if _, err := experiment.Defaults().Set("task.table.path=a", assignment); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", assignment, err)
		}
	}
}

// An offer of the nearest name is followed by a sentence of its own.
func TestNearestTask(t *testing.T) {
	for set, want := range map[string]string{
		`task={"tabel": {}}`: `task "tabel" is not known: did you mean "table"? Write it as in task={"copy": {...}}`,
		`task={"zzz": {}}`:   ` more; write it as in task={"copy": {...}}`,
	} {
		if _, err := experiment.Defaults().Set(set); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// The size of subwords goes with the tokenizer that learns them, unless it is set, too.
func TestSetTokenizer(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		size int
		want string // in the error; empty: none
	}{
		"other tokens":          {set: []string{"task.tokenizer=whitespace"}},
		"the whole path":        {set: []string{"task.labels.tokenizer=characters"}},
		"a file":                {set: []string{"task.tokenizer_file=tok.json"}},
		"subwords":              {set: []string{"task.tokenizer=subwords"}, size: 2000},
		"another size":          {set: []string{"task.tokenizer_size=300", "task.tokenizer=subwords"}, size: 300},
		"a size that is set":    {set: []string{"task.tokenizer=whitespace", "task.tokenizer_size=300"}, want: "set task.tokenizer=subwords, or task.tokenizer_size=0"},
		"a file and a set size": {set: []string{"task.tokenizer_size=300", "task.tokenizer_file=tok.json"}, want: "or set task.tokenizer_size=0"},
	} {
		r, err := recipes.MustRun("own-labels").Set(c.set...)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		if err != nil || r.Task.Value.(labels.Labels).TokenizerSize != c.size {
			t.Errorf("%s: %+v, %v", name, r.Task.Value, err)
		}
	}
}

// The configuration of a run directory, which omits fields that are zero, is read as it is: demo is trained with Adam alone, and a tagger
// without affixes stays one. Caught when planted: Muon for a run that omits it, affixes that a tagger does not have.
func TestCompleteFilesKeepTheirZeros(t *testing.T) {
	for name, set := range map[string]string{
		"demo": "name=x", "own-labels": "training.label_smoothing=0", "own-tags": "task.affixes=0", "own-text": "training.muon=0", "lambada/language": "name=y",
		"own-translation": "task.max_length=0",
	} {
		run, err := recipes.MustRun(name).Set(set)
		if err != nil {
			t.Fatal(err)
		}
		earlier := bytes.Replace(run.JSON(), []byte(`"weigh_by_tokens": false,`), nil, 1) // as version 0.2 wrote it
		if read, err := experiment.Parse(earlier); err != nil || !reflect.DeepEqual(read, run) {
			t.Errorf("%s with %s is read as %s, %v", name, set, read.JSON(), err)
		}
	}
}

// The task chooses the defaults of what a file leaves out, and the file's own fields stay. Another variant than the default has its own
// defaults. Tokens of a batch replace the default number of rows, and another tokenizer the default number of subwords.
// Caught when planted: rows of labels beside tokens; the boundaries of own-text for other language models; a Go type's kind asked.
func TestTasksChooseDefaults(t *testing.T) {
	for text, want := range map[string]map[string]any{
		`{"task": {"copy": {}}}`: {"training.batch.tokens": 1088.0, "training.best_by_accuracy": true, "training.muon": 0.95, "training.stop.perfect": 3.0},
		`{"task": {"labels": {"path": "a", "tokenizer": "whitespace"}}, "training": {"batch": {"tokens": 512}, "steps": 7}}`: {
			"task.labels.tokenizer": "whitespace", "task.labels.tokenizer_size": nil, "training.batch.tokens": 512.0, "training.batch.rows": 0.0, "training.steps": 7.0,
			"training.label_smoothing": 0.1, "model.classifier.halting.fixed.steps": 3.0, "training.schedule.cosine.warmup": 100.0,
		},
		`{"task": {"labels": {"path": "a"}}, "model": {"classifier": {"halting": {"frozen": {"max_steps": 5}}, "width": 8}}, "training": {"label_smoothing": 0}}`: {
			"task.labels.tokenizer_size": 2000.0, "model.classifier.halting.frozen.max_steps": 5.0, "model.classifier.halting.fixed.steps": nil, "model.classifier.width": 8.0,
			"model.classifier.halting.frozen.epsilon": 0.01, "training.label_smoothing": 0.0,
		},
		`{"task": {"labels": {"path": "a"}}, "model": {"lstm_classifier": {}}}`: {"model.lstm_classifier.width": 128.0, "training.batch.rows": 32.0},
		`{"task": {"tags": {"path": "a"}}}`:                                     {"task.tags.affixes": 3.0, "task.tags.min_count": 2.0, "training.best_by_measure": true, "training.decoded": 2000.0},
		`{"task": {"text": {"path": "a", "length": 8}}}`: {
			"model.language_model.width": 128.0, "model.language_model.dropout.residual": 0.0, "training.best_by_accuracy": nil, "training.stop.perfect": nil, "task.text.length": 8.0,
		},
		`{"task": {"text": {"path": "a"}}, "training": {"best_by_accuracy": true}}`:                        {"training.best_by_accuracy": true},
		`{"task": {"translation": {"training": [{"source": "a", "target": "b"}], "tokenizer_file": "f"}}}`: {"training.best_by_measure": true, "task.translation.tokenizer_size": nil},
		`{"task": {"babi": {"path": "a"}}}`:                                                                {"model.classifier.pool": "mean", "training.batch.rows": 32.0},
		`{"task": {"agreement_pairs": {"path": "a.text", "text": "b"}}}`:                                   {"training.stop.patience": 5.0, "training.batch.boundaries": nil},
		`{"task": {"lambada": {"path": "a"}}}`:                                                             {"model.language_model.width": 128.0, "training.batch.boundaries": nil},
	} {
		r, err := experiment.Parse([]byte(`{"name": "a", ` + text[1:]))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for field, value := range want {
			if got := r.Fields()[field]; got != value && (value != 0.0 || got != nil) {
				t.Errorf("%s: %s is %v, want %v", text, field, got, value)
			}
		}
	}
	r, err := experiment.FromDefaults([]byte(`{"task": {"go:Mine": {}}, "model": {"tagger": {}}}`))
	if err != nil || r.Training.Decoded != 2000 {
		t.Errorf("a tagger of a task in Go: %+v, %v", r.Training, err)
	}
	if r, err := experiment.FromDefaults([]byte(`{"task": {"go:Mine": {}}}`)); err != nil || !r.Training.BestByAccuracy {
		t.Errorf("a task in Go: %+v, %v", r.Training, err)
	}
}

// Tokens of a batch that are set replace rows, unless those are set, too; large seeds are kept.
func TestSetBatch(t *testing.T) {
	labels := recipes.MustRun("own-labels")
	labels.Seed = 1<<64 - 1
	for set, rows := range map[string]int{"training.batch.tokens=512": 0, "training.batch.tokens=0": 32, "training.steps=5": 32, "training.batch.rows=7": 7} {
		if r, err := labels.Set(set); err != nil || r.Training.Batch.Rows != rows || r.Seed != labels.Seed {
			t.Errorf("%s: %+v, seed %d, %v", set, r.Training.Batch, r.Seed, err)
		}
	}
}
