package sweep

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/runlog"
)

// A result has the validations of its run and the training before each, as metrics.jsonl has them, with rising times; without the run, the page
// of a sweep draws them too.
// Caught when planted: rows of training taken for validations; the loss in place of the cross entropy; times of the row before; the training
// after a validation; accuracies in place of errors; those of training for those of validation.
func TestResultHasCurve(t *testing.T) {
	cells := smallCells(t, t.TempDir())[:1]
	run, outcomes := runner(1)
	if err := run.Run(context.Background(), cells); err != nil {
		t.Fatal(err)
	}
	log, err := runlog.Open(cells[0].Dir())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := log.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	var steps []int64
	var nats, trained, wrong, trainedWrong []float64
	latest, latestRight := -1.0, -1.0
	for _, row := range rows {
		v, _ := row.Number("cross_entropy")
		right, _ := row.Number("sequence_accuracy")
		if row["split"] == "validation" {
			steps, nats, trained = append(steps, row.Step()), append(nats, v), append(trained, latest)
			wrong, trainedWrong = append(wrong, 1-right), append(trainedWrong, 1-latestRight)
		} else {
			latest, latestRight = v, right
		}
	}
	r, err := Read(filepath.Join(cells[0].Results, "one-seed4.json"))
	if err != nil || !reflect.DeepEqual(r.Curve, outcomes["one-seed4"].Result.Curve) {
		t.Fatalf("%+v is read as %+v, %v", outcomes["one-seed4"].Result.Curve, r.Curve, err)
	}
	if c := r.Curve; fmt.Sprint(steps) != "[20 40 60]" || !reflect.DeepEqual(c.Updates, steps) || !reflect.DeepEqual(c.Validation, nats) || !reflect.DeepEqual(c.TrainingNats, trained) ||
		!almost(c.ValidationErrors, wrong) || !almost(c.TrainingErrors, trainedWrong) || len(c.Seconds) != 3 || c.Seconds[0] <= 0 || c.Seconds[2] > r.Seconds+0.001 {
		t.Errorf("%+v, want updates %v, validation %v, training %v, errors %v, in training %v", c, steps, nats, trained, wrong, trainedWrong)
	}
	if err := os.RemoveAll(cells[0].Dir()); err != nil {
		t.Fatal(err)
	}
	if c := cells[0].curve(); !reflect.DeepEqual(c, r.Curve) {
		t.Errorf("without the run: %+v", c)
	}
}

// almost reports whether numbers are equal within 1e-8.
func almost(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-8 })
}

// Thinned curves are spread evenly and have the last point and that of the selected checkpoint, also where times are unknown.
func TestThinCurve(t *testing.T) {
	long := &Curve{}
	for i := range int64(200) {
		long.Updates, long.Validation = append(long.Updates, 10*(i+1)), append(long.Validation, 1/float64(i+1))
		long.TrainingNats, long.ValidationErrors = append(long.TrainingNats, 2/float64(i+1)), append(long.ValidationErrors, 0.5/float64(i+1))
	}
	c := long.thin(1010) // every fifth is chosen: 50, 100, ...
	if err := c.validate(Header{Step: 2000, BestStep: 1010, Validation: 1. / 101}); err != nil || len(c.Updates) != 41 || c.Seconds != nil {
		t.Fatalf("%d points, %v", len(c.Updates), err)
	}
	if fmt.Sprint(c.Updates[:3], c.Updates[19:22], c.Updates[40]) != "[50 100 150] [1000 1010 1050] 2000" || c.Validation[20] != 1./101 || c.TrainingNats[20] != 2./101 || c.ValidationErrors[20] != .5/101 || c.TrainingErrors != nil {
		t.Errorf("%v, %v", c.Updates, c.Validation)
	}
	short := &Curve{Updates: []int64{10, 20}, Seconds: []float64{1, 2}, Validation: []float64{0.5, 0.4}}
	if got := short.thin(10); !reflect.DeepEqual(got, short) {
		t.Errorf("%+v", got)
	}
}

// What does not fit a curve is one line that names the field.
func TestReadCurveIsStrict(t *testing.T) {
	const good = `{"updates": [20, 40, 60], "seconds": [0, 1, 1.5], "training": [0.625, 0.375, 0.125], "validation": [0.5, 0.25, 0.75], "training_errors": [0.375, 0.125, 0], "validation_errors": [1, 0.4375, 0.75]}`
	for _, c := range []struct{ from, to, want string }{
		{good, good, ""},
		{`"seconds": [0, 1, 1.5], `, ``, ""},
		{`"training": [0.625, 0.375, 0.125], `, ``, ""},
		{`[0.625, 0.375, 0.125]`, `[0.625, 0.375]`, "curve.training has 2 numbers of 3 updates"},
		{`0.375`, `-0.375`, "curve.training[1] is -0.375: it must not be negative"},
		{`[20, 40, 60]`, `[]`, "curve.updates are missing"},
		{`"updates": [20, 40, 60], `, ``, "curve.updates is missing"},
		{`[20, 40, 60]`, `[20, 40]`, "curve.validation has 3 numbers of 2 updates"},
		{`[0, 1, 1.5]`, `[0, 1]`, "curve.seconds has 2 numbers of 3 updates"},
		{`[20, 40, 60]`, `[20, 40, 61]`, "curve.updates[2] is 61: it must be above the one before and at most step, 60"},
		{`[20, 40, 60]`, `[20, 20, 60]`, "curve.updates[1] is 20"},
		{`[20, 40, 60]`, `[-20, 40, 60]`, "curve.updates[0] is -20"},
		{`[0, 1, 1.5]`, `[0, 1, 0.5]`, "curve.seconds[2] is 0.5: it must not be below the one before"},
		{`0.75`, `-0.75`, "curve.validation[2] is -0.75: it must not be negative"},
		{`0.25`, `0.26`, "curve.validation[1] is 0.26, but validation is 0.25 after the same update"},
		{`, "training_errors": [0.375, 0.125, 0], "validation_errors": [1, 0.4375, 0.75]`, ``, ""},
		{`[0.375, 0.125, 0]`, `[0.375, 0.125]`, "curve.training_errors has 2 numbers of 3 updates"},
		{`[1, 0.4375, 0.75]`, `[1, 0.4375, 1.75]`, "curve.validation_errors[2] is 1.75: it must be at most 1"},
		{`"validation"`, `"validaton"`, `did you mean "validation"`},
	} {
		r := example()
		r.Measured = []byte(`{}`)
		root := t.TempDir()
		if err := r.Save(root); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, r.File())
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), `  "measured"`, `  "curve": `+strings.Replace(good, c.from, c.to, 1)+`, "measured"`, 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}
