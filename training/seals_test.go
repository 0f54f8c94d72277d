package training_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A checkpoint says what it belongs to. A resume says so if something else computes it now, and only then.
// Caught when planted: a seal that is not kept, a difference that is not looked at.
func TestSeals(t *testing.T) {
	tr := trainer(t, config(4))
	tr.Seals = training.Seals{Fingerprint: "a", Vocabulary: "b", Configuration: "c", Engine: "two threads"}
	run(t, tr)
	c, _, err := tr.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		training.FingerprintKey: "a", training.VocabularyKey: "b", training.ConfigurationKey: "c", training.EngineKey: "two threads",
	} {
		if c.Meta[key] != want {
			t.Errorf("%s is %q, want %q", key, c.Meta[key], want)
		}
	}
	for _, engine := range []string{"two threads", "four threads"} {
		said := ""
		seals := tr.Seals
		tr = resumed(t, tr)
		tr.Seals, tr.Notify = seals, func(line string) { said += line + "\n" }
		tr.Seals.Engine = engine
		run(t, tr)
		if got := strings.Contains(said, "computed by two threads, this is "+engine); got != (engine == "four threads") {
			t.Errorf("on %s it says %q", engine, said)
		}
	}
}

// What ended training counts as long as the configuration is the same; under another one training goes on.
// Caught when planted: an end that outlives a change, one that does not outlive a resume.
func TestChangedConfigurationGoesOn(t *testing.T) {
	c := config(30)
	c.Average = 0 // so that nothing changes while nothing is learned
	c.Schedule, c.Stop, c.Accumulate = unchecked(0), schedule.Stop{Patience: 3}, 0
	tr := trainer(t, c)
	tr.Seals.Configuration = "before"
	for _, test := range []struct {
		configuration, stopped string
		patience               int
		step                   int64
	}{{"before", "patience", 3, 20}, {"before", "patience", 3, 20}, {"after", "patience", 1, 25}, {"later", "done", 0, 30}} {
		tr.Seals.Configuration, tr.Config.Stop.Patience = test.configuration, test.patience
		if report := run(t, tr); report.Stopped != test.stopped || report.Step != test.step {
			t.Errorf("%s: %s at step %d, want %s at %d", test.configuration, report.Stopped, report.Step, test.stopped, test.step)
		}
		tr = resumed(t, tr)
	}
}

// A run that was killed between writing its best checkpoint and saying so says it when it is resumed.
// Caught when planted: a mark that is not made again.
func TestBestIsMarkedAgain(t *testing.T) {
	c := config(5) // the look at update 5 is the last thing it does
	tr := trainer(t, c)
	if report := run(t, tr); report.BestStep != 5 {
		t.Fatalf("the best step is %d", report.BestStep)
	}
	mark := filepath.Join(tr.Log.Dir(), "best.json")
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	tr = resumed(t, tr)
	run(t, tr)
	if best, err := tr.Log.Best(); err != nil || best.Step != 5 {
		t.Errorf("the best is %v, %v", best, err)
	}
}

// A checkpoint whose state no training has is refused in one line.
// Caught when planted: a check left out.
func TestForgedState(t *testing.T) {
	tr := trainer(t, config(4))
	run(t, tr)
	whole, _, err := tr.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		`{"capacity_plan": {"shapes": [null]}}`:                                                     "capacity_plan: shape 1 is null",
		`{"capacity_plan": {"shapes": [{"encoder": {"peaks": [{}], "units": [[-1, 0, 0]]}}]}}`:      "planned with -1 units",
		`{"capacity_plan": {"shapes": [{"decoder": {"units": [[1, 1, 1]]}}]}}`:                      "1 steps planned after 0",
		`{"capacity_plan": {"shapes": [{"encoder": {"batches": -1}}]}}`:                             "-1 batches",
		`{"capacity_plan": {"shapes": [{"encoder": {"peaks": [{}], "units": [[1, 1, 9999999]]}}]}}`: "planned with 9999999 units",
		`{"capacity_plan": [}`:                      "cannot be read",
		`null`:                                      "is null",
		`{"data": {"window": -1}}`:                  "negative",
		`{"data": {"window": 0, "batch": 1000}}`:    "no batch 1000",
		`{"data": {"window": 9223372036854775807}}`: "window",
	} {
		tr = resumed(t, tr)
		forged := *whole
		forged.Meta = map[string]string{"training": state}
		tr.From = &forged
		if _, err := tr.Run(context.Background()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", state, err, want)
		}
	}
}

// A checkpoint beyond the last step is an error, and stays.
func TestFewerStepsThanThereAre(t *testing.T) {
	tr := trainer(t, config(4))
	run(t, tr)
	tr = resumed(t, tr)
	tr.Config.Steps = 3
	if _, err := tr.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "update 4 is beyond training.steps, 3") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(tr.Log.Dir(), "checkpoints", "step-000000004.safetensors")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the checkpoint is gone")
	}
}

// Lines of metrics that are gone are noted by a resume.
// Caught when planted: a size that is not kept, or not compared.
func TestMissingMetricsAreNoted(t *testing.T) {
	tr := trainer(t, config(4))
	run(t, tr)
	for _, cut := range []bool{false, true} {
		path := filepath.Join(tr.Log.Dir(), "metrics.jsonl")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if cut {
			if err := os.WriteFile(path, whole[:strings.LastIndex(strings.TrimSpace(string(whole)), "\n")+1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		said := ""
		tr = resumed(t, tr)
		tr.Notify = func(line string) { said += line + "\n" }
		run(t, tr)
		if got := strings.Contains(said, "lines are missing"); got != cut {
			t.Errorf("cut: %v, it says %q", cut, said)
		}
	}
}

// Validation drops nothing out, and draws positions as training does, always the same: weights that do not change give the same numbers
// at every look. Caught when planted: dropout left on in validation; new positions at every look; positions from one.
func TestValidationDropsNothing(t *testing.T) {
	c := config(10)
	c.Average = 0
	c.Schedule = unchecked(0)
	tr := trainer(t, c)
	run(t, tr)
	var entropies []float64
	for _, row := range metrics(t, tr) {
		if row["split"] == "validation" {
			entropy, _ := row.Number("cross_entropy")
			entropies = append(entropies, entropy)
		}
	}
	if len(entropies) != 2 || entropies[0] != entropies[1] {
		t.Errorf("cross entropies are %v", entropies)
	}
	fromOne := trainer(t, c)
	fromOne.Positions = universal.Draws{}
	run(t, fromOne)
	if got := validated(t, fromOne); got == entropies[0] {
		t.Errorf("validation gives %v at drawn positions and at those from one", got)
	}
}

// A damaged mark of the best is written anew from the newest checkpoint, which knows it, and that is said.
// Caught when planted: a mark that is passed over; one that is written without a word.
func TestDamagedMarkIsWrittenAnew(t *testing.T) {
	tr := trainer(t, config(10))
	best := run(t, tr).BestStep
	mark := filepath.Join(tr.Log.Dir(), "best.json")
	whole, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, []byte(strings.Replace(string(whole), `"step": `, `"step": 1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	said := ""
	tr = resumed(t, tr)
	tr.Notify = func(line string) { said += line + "\n" }
	run(t, tr)
	if again, err := os.ReadFile(mark); err != nil || string(again) != string(whole) || !strings.Contains(said, fmt.Sprint("best.json: damaged: its content does not match its checksum: it is written anew, and marks update ", best)) {
		t.Errorf("%s, %v; it says %q", again, err, said)
	}
}
