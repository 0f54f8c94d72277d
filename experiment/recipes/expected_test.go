package recipes_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

var update = flag.Bool("update", false, "write expected.go anew")

// The published accuracy and processor time of each recipe are what its results come to, on average over seeds; those of families with many tasks, over
// tasks. With -update the file is written anew. Caught when planted: a figure of the second set of table 4; the time of one seed.
func TestExpected(t *testing.T) {
	groups := map[string][]outcome{}
	for _, r := range publishedResults(t) {
		o := outcomeOf(t, r)
		groups[r.Recipe] = append(groups[r.Recipe], o)
		if family := r.Family(); strings.Contains(family, "-single") && !o.standIn {
			groups[family] = append(groups[family], o)
		}
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from the published results by go test -run TestExpected -update; DO NOT EDIT.\n\npackage recipes\n\n" +
		"// expected is the published accuracy and processor time of recipes and of families with many tasks, on average.\nvar expected = map[string]string{\n")
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(&b, "%q: %q,\n", name, summary(groups[name], !strings.Contains(name, "/")))
	}
	b.WriteString("}\n")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("expected.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("expected.go"); err != nil || !bytes.Equal(have, want) {
		t.Errorf("expected.go is not what the published results come to (%v): run go test ./experiment/recipes -run TestExpected -update", err)
	}
}

// outcome is the main measure of a result: one or two values, and how to write them.
type outcome struct {
	values  []float64
	format  string
	header  sweep.Header
	standIn bool // the training file of a task was replaced by another
}

// summary is the mean of outcomes of one kind, with the mean processor time of training.
func summary(list []outcome, family bool) string {
	means, headers := make([]any, len(list[0].values)), []sweep.Header{}
	for i := range means {
		sum := 0.
		for _, o := range list {
			sum += o.values[i]
		}
		means[i] = sum / float64(len(list))
	}
	for _, o := range list {
		headers = append(headers, o.header)
	}
	text := fmt.Sprintf(list[0].format, means...)
	if family {
		text += " on average"
	}
	seconds := sweep.ProcessorSeconds(headers)
	amount, unit := seconds/60, "minute"
	if amount < 2 {
		amount, unit = seconds, "second"
	}
	runs := "seeds"
	if family {
		runs = "runs"
	}
	if len(list) == 1 {
		runs = "seed"
	}
	return fmt.Sprintf("%s; %.0f %ss of processor time (%d %s)", text, amount, unit, len(list), runs)
}

// outcomeOf reads the main measure: wrong answers of table 1, else that of the first test set of the paper's table.
func outcomeOf(t *testing.T, r sweep.Result) outcome {
	t.Helper()
	var m struct {
		StandIn string `json:"stand_in"`
		Tests   []struct{ Questions, Wrong float64 }
		Sets    []struct {
			Name    string
			Metrics []struct {
				Name  string
				Value float64
			}
			Decoded struct{ Tokens, Sequences struct{ Value float64 } }
			BLEU    float64
		}
	}
	if err := json.Unmarshal(r.Measured, &m); err != nil {
		t.Fatalf("%s: %v", r.Name(), err)
	}
	if len(m.Tests) > 0 {
		questions, wrong := 0., 0.
		for _, test := range m.Tests {
			questions, wrong = questions+test.Questions, wrong+test.Wrong
		}
		o := outcome{values: []float64{100 * wrong / questions}, format: "%.1f %% wrong", header: r.Header, standIn: m.StandIn != ""}
		if o.standIn {
			o.format += ", with a stand-in for a training file"
		}
		return o
	}
	for _, s := range m.Sets {
		switch s.Name {
		case "length 400", "maximum":
			where := map[string]string{"length 400": "at length 400", "maximum": "at the greatest length"}[s.Name]
			return outcome{values: []float64{s.Decoded.Tokens.Value, s.Decoded.Sequences.Value}, format: "tokens %.3f, sequences %.3f " + where, header: r.Header}
		case "test_2016_flickr", "newstest2014":
			return outcome{values: []float64{s.BLEU}, format: "%.1f BLEU", header: r.Header}
		case "test":
			for _, metric := range s.Metrics {
				if format, ok := map[string]string{"total balanced": "balanced accuracy %.3f", "last word perplexity": "perplexity %.0f", "accuracy": "accuracy %.3f"}[metric.Name]; ok {
					return outcome{values: []float64{metric.Value}, format: format, header: r.Header}
				}
			}
		}
	}
	t.Fatalf("%s: no main measure in %s", r.Name(), r.Measured)
	return outcome{}
}
