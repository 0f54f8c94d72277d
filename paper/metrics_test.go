package paper

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// measuredSets is a result of table 2 or 3.
func measuredSets(experiment, task string, seed uint64, sets ...metricSet) Result {
	return Result{
		Header:   Header{Version: "0.3.0+abc", Experiment: experiment, Model: "a model", Task: task, Seed: seed, Data: "d", Parameters: 12345, Step: 3000, Seconds: 600, Threads: 1},
		Measured: &metricsMeasured{Sets: sets},
		Config:   []byte("{}"),
	}
}

// byAttractors is the test of table 2: so many of 100 right with k attractors.
func byAttractors(k, right int) metricSet {
	return metricSet{Name: "test", Examples: 100, Method: "teacher forcing", Metrics: []score.Metric{
		score.Share(fmt.Sprintf("%d attractors", k), score.Accuracy{Correct: right, Total: 100}), score.Figure(fmt.Sprintf("%d balanced", k), float64(right)/200),
		score.Share(fmt.Sprintf("%d always plural", k), score.Accuracy{Correct: 93, Total: 100}), score.Share(fmt.Sprintf("%d last word", k), score.Accuracy{Correct: 4, Total: 100}),
	}, Notes: []string{"a note"}}
}

// The page has means and deviations of seeds, balanced accuracy and what needs no model beside, how many rows there are, the paper's
// figures where the measure is the paper's and nowhere else, and says that the enriched regime compares with nothing.
// Caught when planted: a baseline of another column, figures of the first seed, the paper's row in every column.
func TestAgreementPage(t *testing.T) {
	results := []Result{
		measuredSets("agreement", "natural-text", 1, byAttractors(4, 80)), measuredSets("agreement", "natural-text", 2, byAttractors(4, 90)),
		measuredSets("agreement-lstm", "enriched-classes", 1, byAttractors(2, 70)), measuredSets("agreement-adaptive", "verbs", 1, byAttractors(5, 60)),
	}
	text := string(Render(results, t.TempDir(), ".").Bytes())
	for _, want := range []string{
		"| examples |  |  |  |  | 100 |  |  |",
		"| Universal Transformer | 2 seeds | missing | missing | missing | 0.850 ± 0.071 (0.425) | missing | missing |",
		"| always plural | no model |  |  |  | 0.930 |  |  |", "| number of the last word | no model |  |  |  | 0.040 |  |  |",
		"| UT with dynamic halting | paper | 0.994 | 0.969 | 0.967 | 0.944 | 0.932 | 0.907 | 0.992 |",
		"**Not comparable with the paper's table.**", "- test: a note.", "| agreement | natural-text | 2 | a model | 12,345 | 3,000 | 10 |",
		"| table 2 | Agreement. Ranking of verb forms, the paper's measure: total | Transformer 0.962; Universal Transformer 0.992; UT with dynamic halting 0.992 | not measured yet | everything |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, "| UT with dynamic halting | paper | 0.994"); n != 1 {
		t.Errorf("the paper's figures stand in %d tables", n)
	}
}

// Beside every table stands whether the Universal Transformer is above the others, and by more than seeds differ.
// Caught when planted: the deviation of one of the two, the difference of the first seeds.
func TestComparesModels(t *testing.T) {
	balanced := func(experiment string, values ...float64) (results []Result) {
		for i, v := range values {
			results = append(results, measuredSets(experiment, "enriched-text", uint64(i+1), metricSet{Name: "test", Examples: 10, Metrics: []score.Metric{score.Figure("total balanced", v)}}))
		}
		return results
	}
	text := string(Render(slices.Concat(balanced("agreement", 0.8, 0.9), balanced("agreement-lstm", 0.90, 0.91), balanced("agreement-transformer", 0.5, 0.9), balanced("agreement-adaptive", 0.8)), t.TempDir(), ".").Bytes())
	for _, want := range []string{
		"Universal Transformer 0.850 ± 0.071, LSTM 0.905 ± 0.007: below by 0.055, less than",
		"Universal Transformer 0.850 ± 0.071, Transformer 0.700 ± 0.283: above by 0.150, less than",
		"Universal Transformer 0.850 ± 0.071, UT with dynamic halting 0.800: above by 0.050; with a single seed the standard deviation is unknown",
	} {
		if !strings.Contains(text, "- test, total balanced: "+want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := (sample{0.9, 0.01, 3}).against(sample{0.8, 0.02, 3}); got != "above by 0.100, more than one standard deviation over seeds" {
		t.Error(got)
	}
}

// Perplexities stand with accuracies, and both over what is covered; the paper's beside; the ceiling and the words that need no model
// below reading; training text and control set are said.
func TestLambadaPage(t *testing.T) {
	language := metricSet{Name: "test", Examples: 5153, Metrics: []score.Metric{
		score.Share("last word accuracy", score.Accuracy{Correct: 100, Total: 5153}), score.Share("accuracy of covered", score.Accuracy{Correct: 100, Total: 2277}),
		score.Share("covered", score.Accuracy{Correct: 2277, Total: 5153}), score.Figure("last word perplexity", 345.678), score.Figure("perplexity of covered", 12345.6),
	}, Decoder: 4.25}
	reading := metricSet{Name: "test", Examples: 100, Metrics: []score.Metric{
		score.Share("accuracy", score.Accuracy{Correct: 40, Total: 100}), score.Share("ceiling", score.Accuracy{Correct: 83, Total: 100}),
		score.Share("most frequent content word", score.Accuracy{Correct: 14, Total: 100}), score.Figure("random content word", 0.044),
	}}
	text := string(Render([]Result{measuredSets("lambada-adaptive", "language", 1, language), measuredSets("lambada", "reading", 1, reading)}, t.TempDir(), ".").Bytes())
	for _, want := range []string{
		"|  | 1 seed | missing | missing | 345.7 (0.019, 12346, 0.044) |", "| UT with dynamic halting | paper | 130 (0.32) | 134 (0.22) | 142 (0.19) |",
		"| coverage of the vocabulary | no model |  |  | 0.442 |", "|  | 1 seed | missing | missing | 0.400 |",
		"| upper bound: the answer occurs in the context | no model |  |  | 0.830 |", "| most frequent content word | no model |  |  | 0.140 |", "| a random content word | no model |  |  | 0.044 |",
		"| Universal Transformer, 9 steps | paper | 129 (0.33) | 214 (0.21) | 239 (0.17) |", "six novels with 870,000 tokens", "**our own**", "| 4.25 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Ponder times by kind are means of the seeds that have them, for the models that have any. Caught when planted: those of the first seed.
func TestPonderTimesOfKinds(t *testing.T) {
	with := func(seed uint64, hard float64) Result {
		r := measuredSets("agreement-adaptive", "natural-text", seed, byAttractors(4, 80))
		m := r.Measured.(*metricsMeasured)
		m.Kinds = []ponderTime{{Name: "1 attractors", Examples: 70, Decoder: 2}, {Name: "2 attractors", Examples: 30, Decoder: hard, Deviation: hard - 2}}
		last := &m.Sets[len(m.Sets)-1]
		last.Decoder, last.Deviation, last.Tenths = 2.5, 0.25, []float64{1, 2, 2, 2, 2, 2, 2, 2, 2, hard + 3}
		return r
	}
	page := Render([]Result{with(1, 3), with(2, 4), measuredSets("agreement", "natural-text", 1, byAttractors(4, 80))}, t.TempDir(), ".")
	text := string(page.Bytes())
	for _, want := range []string{"| 1 attractors | 70 | 2.00 |", "| 2 attractors | 30 | 3.50 ± 1.50 |", "agreement-adaptive-natural-text-ponder.svg", "agreement-adaptive-natural-text-ponder-positions.svg", "| 2.50 ± 0.25 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(text, "-ponder.svg") != 1 || !strings.Contains(string(page.Figures["agreement-adaptive-natural-text-ponder.svg"]), ">3.50<") {
		t.Error("not one figure with the mean of the seeds")
	}
	if byPosition := string(page.Figures["agreement-adaptive-natural-text-ponder-positions.svg"]); !strings.Contains(byPosition, ">90 to 100 % of the sequence<") || !strings.Contains(byPosition, ">6.50<") {
		t.Error("no figure by position with the mean of the seeds")
	}
}

// Cells whose files are not there are left out and named; those that are there train, are measured on all sets, and say so.
// Caught when planted: a regime or a model for another's; sets that are not measured.
func TestTables2And3Train(t *testing.T) {
	linzen, passages, prose := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(folder, name, content string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var rows, lines, book strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		fmt.Fprintf(&rows, "VBP\tthe keys in room %d\nVBZ\tthe key in room %d\n", i, i)
		fmt.Fprintf(&lines, "%s anna has the lantern . then in room %d boris saw anna\n", strings.Repeat("he said it . ", 14), i)
		fmt.Fprintf(&book, "Anna saw the old ") // and words at random, which do not give each other away
		for range 5 {
			fmt.Fprintf(&book, "%c%c ", 'b'+rng.IntN(8), 'o'+rng.IntN(8))
		}
		fmt.Fprintf(&book, "in room %d. ", i%9)
	}
	write(linzen, "numpred.val", rows.String())
	for k := 1; k <= 5; k++ {
		write(linzen, fmt.Sprintf("numpred.test.%d", k), strings.ReplaceAll(rows.String(), "the", fmt.Sprintf("some %d", k)))
	}
	write(passages, "lambada_development_plain_text.txt", strings.ReplaceAll(lines.String(), "boris", "carla"))
	write(passages, "lambada_test_plain_text.txt", lines.String())
	for _, name := range []string{"one.txt", "chesterton-thursday.txt"} {
		write(prose, name, book.String())
	}
	root := t.TempDir()
	set := []string{"model.width=8", "training.steps=4", "training.evaluate_every=4", "training.checkpoint_every=4", "training.schedule.cosine.warmup=1", "training.validation=8", "training.log_every=2"}
	r, outcomes := runner(1)
	for _, want := range []struct {
		name  string
		cells int
	}{{"agreement-adaptive", 4}, {"agreement-lstm", 4}, {"lambada", 3}, {"lambada-transformer", 3}} {
		request := Request{Name: want.name, Seeds: []uint64{1}, Set: set, Data: Data{"linzen": linzen, "lambada": passages, "prose": prose},
			Runs: filepath.Join(root, "runs"), Results: filepath.Join(root, "results")}
		if want.name != "agreement-lstm" {
			request.Set = append([]string{"model.heads=2", "model.transition.filter=8"}, set...)
		}
		cells, leftOut, err := request.Cells()
		if err != nil || len(cells) != want.cells || len(cells)+len(leftOut) != map[bool]int{true: 6, false: 3}[strings.HasPrefix(want.name, "agreement")] {
			t.Fatalf("%s: %d cells, left out %v, %v", want.name, len(cells), leftOut, err)
		}
		if err := r.Run(t.Context(), cells); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range outcomes {
		if o.Err != nil {
			t.Fatalf("%s: %v", name, o.Err)
		}
		sets := o.Result.Measured.(*metricsMeasured).Sets
		names := ""
		for _, s := range sets {
			names += s.Name + " "
		}
		if want := map[bool]string{true: "test ", false: "control development test "}[strings.HasPrefix(name, "agreement")]; names != want {
			t.Errorf("%s: sets %q", name, names)
		}
		kinds := ""
		for _, k := range o.Result.Measured.(*metricsMeasured).Kinds {
			kinds += fmt.Sprintf("%s of %d; ", k.Name, k.Examples)
			if k.Encoder+k.Decoder < 1 {
				t.Errorf("%s: ponder time of %+v", name, k)
			}
		}
		if want := map[bool]string{true: "1 attractors of 400; 2 attractors of 400; 3 attractors of 400; 4 attractors of 400; 5 attractors of 400; "}[strings.Contains(name, "adaptive/natural")]; kinds != want &&
			!strings.Contains(name, "enriched") {
			t.Errorf("%s: kinds %q, want %q", name, kinds, want)
		}
		if adaptive := strings.Contains(name, "adaptive"); adaptive != (sets[0].Encoder+sets[0].Decoder > 0) || strings.Contains(name, "lstm") != strings.Contains(o.Result.Model, "LSTM") {
			t.Errorf("%s: %s, ponder %v", name, o.Result.Model, sets[0].Encoder+sets[0].Decoder)
		}
		if enriched := strings.Contains(name, "enriched"); enriched != strings.Contains(o.Result.Data, "enriched") {
			t.Errorf("%s learned from %s", name, o.Result.Data)
		}
	}
	if len(outcomes) != 14 {
		t.Errorf("%d outcomes", len(outcomes))
	}
}

// The paper has its Universal Transformers of 8 and 9 steps as language models only. Caught when planted: rows that have every task.
func TestDeeperModelsAreLanguageModels(t *testing.T) {
	for _, e := range lambadaTable.Table().Experiments {
		want := "language reading annotated"
		if strings.HasPrefix(e.Name, "lambada-steps") {
			want = "language"
		}
		if got := strings.Join(e.Tasks, " "); got != want {
			t.Errorf("%s: %s, want %s", e.Name, got, want)
		}
	}
}
