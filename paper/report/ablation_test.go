package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
)

// exchangeSearch leaves out parts of a row. No run may have the values of its last two variants together.
const exchangeSearch = `{
  "sweep": {
    "name": "exchange-%s", "base": "%s/task13",
    "variants": {"as-in-the-row": [], "no-exchange": ["task.rename=false", "task.babi.rename_share=0", "task.reword=false"], "names-always": ["task.rename_share=1"]%s},
    "seeds": 2, "measure": {"validation": true}
  },
  "measure": "validation cross entropy", "selected": "", "log": "2026-01-02 · words"
}`

// exchangeResult is a result of exchangeSearch.
func exchangeResult(t *testing.T, search, base, variant string, seed uint64, accuracy, entropy float64, set ...string) sweep.Result {
	t.Helper()
	run, err := recipes.MustRun(base + "/task13").Set(set...)
	if err != nil {
		t.Fatal(err)
	}
	run.Name, run.Seed = "exchange-"+search+"/"+variant, seed
	config, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	by := sweep.Provenance{Version: "0.2.0", Commit: "01af341", Backend: "cpu:threads=1", CPU: "AMD EPYC"}
	return sweep.Result{
		Header:   sweep.Header{Recipe: variant, Seed: seed, Step: 500, BestStep: 400, Validation: entropy, ChosenBy: sweep.ByEntropy, Stopped: "patience", Threads: 1, TrainedBy: by, MeasuredBy: by},
		Measured: json.RawMessage(fmt.Sprintf(`{"examples": 100, "lengths": "", "metrics": [{"name": "accuracy", "value": %v, "correct": 0, "total": 0}]}`, accuracy)),
		Config:   config,
	}
}

// The ablation has the means of each variant over its finished seeds. A variant that one search has alone, and one without a result, say so.
// Caught when planted: the sum in place of the mean; a variant of another search as not finished; runs compared as a run that has the values of both
// variants.
func TestAblation(t *testing.T) {
	const ut, transformer = "babi-1k-single-renamed", "babi-1k-single-renamed-transformer"
	none := []string{"task.rename=false", "task.babi.rename_share=0", "task.reword=false"}
	list, err := readSearchFile(t, "exchange-ut", fmt.Sprintf(exchangeSearch, "ut", ut, `, "no-decay": ["training.weight_decay=0"]`), []sweep.Result{
		exchangeResult(t, "ut", ut, "as-in-the-row", 1, 0.75, 0.5), exchangeResult(t, "ut", ut, "as-in-the-row", 2, 1, 0.25),
		exchangeResult(t, "ut", ut, "no-exchange", 1, 0.5, 1.125, none...), exchangeResult(t, "ut", ut, "names-always", 2, 0.625, 2, "task.rename_share=1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := readSearchFile(t, "exchange-transformer", fmt.Sprintf(exchangeSearch, "transformer", transformer, ""), []sweep.Result{
		exchangeResult(t, "transformer", transformer, "no-exchange", 1, 0.25, 3, none...),
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Render(Input{Searches: append(list, other...)}, "out", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(pages.Files["table1.md"]), "| variant | Transformer, task13 (100 questions) | Universal Transformer, task13 (100 questions) | seeds |\n|---|---|---|---|\n"+
		"| as in the row | not finished | 0.875 (0.375) | 2 seeds |\n| no exchange | 0.250 (3.000) | 0.500 (1.125) | 1 seed |\n"+
		"| names always | not finished | 0.625 (2.000) | 1 seed |\n| no decay | - | not finished |  |\n\n")
	wrong := exchangeResult(t, "ut", ut, "names-always", 2, 0.625, 2, "task.rename_share=1", "training.weight_decay=0.3")
	if _, err := readSearchFile(t, "exchange-ut", fmt.Sprintf(exchangeSearch, "ut", ut, ""), []sweep.Result{exchangeResult(t, "ut", ut, "no-exchange", 1, 0.5, 1.125, none...), wrong}); err == nil || !strings.Contains(err.Error(), "that of names-always-seed2 is 0.3: their trials do not set the field") {
		t.Errorf("%v", err)
	}
}
