package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// exchangeAblation is the beginning of the names of searches that leave out parts of what the rows with exchanged words do.
const exchangeAblation = "exchange-"

// ablation compares the trials of searches with the same variants: one row per variant, one column per search.
func (p *page) ablation(t paper.Table) {
	list := slices.DeleteFunc(p.book.searchesOf(t), func(s Search) bool { return !strings.HasPrefix(s.file.Name, exchangeAblation) })
	if len(list) == 0 {
		return
	}
	p.printf("### Ablation of exchanged words\n\nThe rows of 1k, single, words exchanged, with parts left out. Accuracy on the validation questions (cross entropy in nats), the mean over seeds. One question is a hundredth, so small differences say nothing. Dynamic halting has no ablation; for joint models, docs/log.md has one trial (%s). "+
		"The settings of all variants are listed with the [searches](#searches).\n\n", paper.BabiJointTrial)
	head := []string{"variant"}
	for _, s := range list {
		head = append(head, fmt.Sprintf("%s, %s (%s)", s.cell.Row.Title, s.cell.Column.Name, count(s.examples(), "question")))
	}
	p.head(append(head, "seeds")...)
	for _, variant := range variantsOf(list) {
		cells, counts := []string{strings.ReplaceAll(variant, "-", " ")}, []int{}
		for _, s := range list {
			cell, n := s.ablated(variant)
			if cells = append(cells, cell); n > 0 {
				counts = append(counts, n)
			}
		}
		p.row(append(cells, numberOfSeeds(counts))...)
	}
	p.printf("\n")
}

// examples returns the number of validation examples of the first result; 0 if none was measured.
func (s Search) examples() int {
	var m sweep.Metrics
	if len(s.results) == 0 || s.results[0].Decode(&m) != nil {
		return 0
	}
	return m.Examples
}

// variantsOf returns the names of the variants of all searches, in the order of the first search that has each.
func variantsOf(list []Search) (names []string) {
	for _, s := range list {
		for _, point := range s.points {
			if !slices.Contains(names, point.Name) {
				names = append(names, point.Name)
			}
		}
	}
	return names
}

// ablated returns the means of accuracy and cross entropy over the finished seeds of a variant, "-" if the search does not have it, and the
// number of seeds.
func (s Search) ablated(variant string) (string, int) {
	if _, ok := s.assignments(variant); !ok {
		return "-", 0
	}
	var accuracies, entropies []float64
	for _, r := range s.results {
		if r.Recipe != variant {
			continue
		}
		entropies = append(entropies, r.Validation)
		if accuracy, ok, err := accuracyOf(r); ok && err == nil {
			accuracies = append(accuracies, accuracy)
		}
	}
	switch {
	case len(entropies) == 0:
		return "not finished", 0
	case len(accuracies) < len(entropies):
		return fmt.Sprintf("(%.3f)", mean(entropies)), len(entropies)
	}
	return fmt.Sprintf("%.3f (%.3f)", mean(accuracies), mean(entropies)), len(entropies)
}
