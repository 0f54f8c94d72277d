package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// The constants of a cache are chosen on the validation examples: given by hand, they give the same result, and a lower perplexity than the
// model alone on passages that repeat their last word.
// Caught when planted: constants chosen on the test, the model alone measured, a cache of another protocol kept.
func TestEvaluateWithCache(t *testing.T) {
	dir := t.TempDir()
	of := strings.ReplaceAll(everyTask(t, dir)["lambada/subwords"], "DIR", filepath.ToSlash(dir))
	_, m := trained(t, of)
	perplexity := func(p pipeline.Protocol) (float64, string) {
		e, err := m.Evaluate(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range e.Metrics {
			if metric.Name == "last word perplexity" {
				return metric.Value, strings.Join(e.Notes, "\n")
			}
		}
		t.Fatalf("%v", e.Metrics)
		return 0, ""
	}
	said := ""
	tuned, note := perplexity(pipeline.Protocol{TuneCache: true, Log: func(line string) { said += line }})
	alone, none := perplexity(pipeline.Protocol{})
	opened, err := m.Run.OpenTask()
	if err != nil {
		t.Fatal(err)
	}
	validation, err := opened.HeldOut(m.Run.Seed, task.Selection{Validation: true})
	if err != nil {
		t.Fatal(err)
	}
	best, err := m.Evaluator().TuneCache(t.Context(), m.Run.Task.Value.Measure(m.Vocabularies), validation)
	if err != nil {
		t.Fatal(err)
	}
	given, _ := perplexity(pipeline.Protocol{Cache: &best})
	if tuned != given || tuned >= alone/2 || !strings.Contains(note, best.String()) || strings.Contains(none, "cache") || !strings.Contains(said, best.String()+": chosen on 400 validation examples") {
		t.Errorf("tuned %v (%s), given %v (%s), alone %v; said %q", tuned, note, given, best, alone, said)
	}
	if _, err := m.Evaluate(t.Context(), pipeline.Protocol{Cache: &pipeline.Cache{Lambda: 2}}); err == nil || !strings.Contains(err.Error(), "lambda is 2") {
		t.Errorf("%v", err)
	}
}
