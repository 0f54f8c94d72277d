package execute

import (
	"context"
	"fmt"
	"slices"

	"universal-transformer/task"
)

// A measure reports the paper's accuracies of decoded characters and sequences, and sequence accuracy by operation and by number of
// operations.
type measure struct {
	ids       task.Vocabularies
	summarize func(source string) (Summary, error)
}

// Measure decodes every program once.
func (m measure) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	decoded, err := model.Decode(ctx, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	answered := recorded{method: model.Method(), decoded: decoded}
	result, err := task.DecodedAccuracy{}.Measure(ctx, answered, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	summaries := make([]Summary, len(examples))
	few := 0
	for i, e := range examples {
		if summaries[i], err = m.summarize(text(m.ids, e.Source)); err != nil {
			return task.Measurement{}, fmt.Errorf("example %d: %w", i+1, err)
		}
		if summaries[i].few {
			few++
		}
	}
	for _, g := range groups(summaries) {
		part, err := task.DecodedAccuracy{}.Measure(ctx, recorded{decoded: pick(decoded, g.at)}, pick(examples, g.at))
		if err != nil {
			return task.Measurement{}, err
		}
		share := part.Metrics[1] // of sequences
		share.Name = g.name
		result.Metrics = append(result.Metrics, share)
	}
	if few > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d sources are so short that training contains them too: there are fewer than %d of that kind", few, len(examples), enough))
	}
	result.Notes = append(result.Notes, products(summaries, result.Answers)...)
	return result, nil
}

// A group is some of the examples.
type group struct {
	name string
	at   []int
}

// groups returns the examples with each operation, and those of each nesting if there are several.
func groups(summaries []Summary) (all []group) {
	operations, maximum := map[string][]int{}, 0
	nestings := map[int][]int{}
	for i, s := range summaries {
		n := len(s.Operations)
		maximum = max(maximum, n)
		nestings[n] = append(nestings[n], i)
		for j, op := range s.Operations {
			if slices.Index(s.Operations, op) == j { // count an operation once per example
				operations[op] = append(operations[op], i)
			}
		}
	}
	for _, op := range operationSets[AllOperations] {
		if at := operations[op]; at != nil && len(operations) > 1 {
			all = append(all, group{"sequence accuracy with " + op, at})
		}
	}
	for n := 0; n <= maximum && len(nestings) > 1; n++ {
		if at := nestings[n]; at != nil {
			all = append(all, group{fmt.Sprintf("sequence accuracy at nesting %d", n), at})
		}
	}
	return all
}

// products notes how many wrong answers are to programs with a multiplication, if there are such programs.
func products(summaries []Summary, answers []task.Answer) []string {
	programs, wrong, product := 0, 0, 0
	for i, s := range summaries {
		has := slices.Contains(s.Operations, multiply)
		if has {
			programs++
		}
		if !answers[i].Correct {
			wrong++
			if has {
				product++
			}
		}
	}
	if programs == 0 || wrong == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d wrong answers (%.1f %%) are to programs with a product; %d of all %d programs have one",
		product, wrong, 100*float64(product)/float64(wrong), programs, len(summaries))}
}

func pick[T any](all []T, at []int) []T {
	picked := make([]T, len(at))
	for i, j := range at {
		picked[i] = all[j]
	}
	return picked
}

// recorded is a model whose answers have been computed before.
type recorded struct {
	task.Model // no other method is called
	method     string
	decoded    []task.Decoded
}

// Decode returns the recorded answers.
func (r recorded) Decode(context.Context, []task.Example) ([]task.Decoded, error) {
	return r.decoded, nil
}

// Method returns the recorded method.
func (r recorded) Method() string { return r.method }
