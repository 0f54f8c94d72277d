package paper

import (
	"context"
	"math"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/task/agreement"
)

// The baselines of tables 2, 3, 5 and 6 have as many parameters as their Universal Transformer: within 3 % where vocabularies are a few
// symbols, within 10 % at those of the novels and of numpred. Caught when planted: a Transformer as wide as the Universal Transformer.
func TestBaselinesHaveAsManyParameters(t *testing.T) {
	words := pipeline.Assumed{Vocabulary: 12_000, Length: 8}
	numpred := pipeline.Assumed{Vocabulary: 6900, Length: 8} // 5,200 natural, 8,600 enriched
	classes := pipeline.Assumed{Vocabulary: 3450, Length: 8} // of source and target; the real target has two classes
	books := pipeline.Assumed{Vocabulary: 13_500, Length: 8}
	type row struct {
		name      string
		configure func(*experiment.Run)
	}
	rowsOf := func(table any) (list []row) {
		switch table := table.(type) {
		case *sequences:
			for _, r := range table.rows {
				if !strings.Contains(r.title, "width") { // says that its size differs: TestWideRow
					list = append(list, row{r.name, r.configure})
				}
			}
		case *metricTable:
			for _, r := range table.rows {
				list = append(list, row{r.name, r.configure})
			}
		}
		return list
	}
	for _, c := range []struct {
		table   any
		run     func() experiment.Run
		assumed pipeline.Assumed
		within  float64
	}{
		{memorization, experiment.ExecuteCopy, pipeline.Assumed{}, 0.03},
		{evaluatedPrograms, experiment.ExecuteProgram, pipeline.Assumed{}, 0.03},
		{evaluatedPrograms, experiment.ExecuteControl, pipeline.Assumed{}, 0.03},
		{evaluatedPrograms, experiment.ExecuteAddition, pipeline.Assumed{}, 0.03},
		{agreementTable, experiment.Agreement, numpred, 0.1},
		{agreementTable, experiment.AgreementClasses, classes, 0.1},
		{agreementTable, agreementPairs, books, 0.1},
		{lambadaTable, experiment.Lambada, words, 0.1},
		{lambadaTable, experiment.LambadaReading, words, 0.1},
	} {
		parameters := func(r experiment.Run) float64 {
			e, err := pipeline.NewEstimate(context.Background(), enginetest.Backend(t), r, pipeline.EstimateOptions{Assumed: c.assumed})
			if err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			return float64(e.Parameters)
		}
		want := parameters(c.run())
		for _, row := range rowsOf(c.table) {
			r := c.run()
			row.configure(&r)
			if have := parameters(r); math.Abs(have/want-1) > c.within {
				t.Errorf("%s, row %q: %.0f parameters, the Universal Transformer has %.0f", c.run().Name, row.name, have, want)
			}
		}
	}
}

func agreementPairs() experiment.Run {
	r := experiment.Agreement()
	r.Task.Value = agreement.Pairs{Path: "pairs.text", Text: "books", MinCount: 2}
	return r
}
