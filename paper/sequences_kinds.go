package paper

import (
	"fmt"
	"path/filepath"
	"slices"
)

// writeKinds is, task by task, what the models come to on sets of one kind each, and the ponder times of those of adaptive depth.
func (s *sequences) writeKinds(p *Page, results []Result) {
	if s.kinds == nil {
		return
	}
	p.Printf("### By kind\n\nSequence accuracy; for adaptive models, the mean number of encoder and decoder steps in parentheses.\n\n")
	for _, c := range s.columns {
		if kinds := s.measuredKinds(results, c.task); len(kinds) > 0 {
			s.writeKindsOf(p, results, c.task, kinds)
			s.writePonder(p, results, c.task)
		}
	}
}

func (s *sequences) writeKindsOf(p *Page, results []Result, task string, kinds []string) {
	var models []sequenceRow
	head := []string{task}
	for _, r := range s.rows {
		if len(s.of(results, r, task)) > 0 {
			models, head = append(models, r), append(head, r.title)
		}
	}
	p.Head(head...)
	for _, kind := range kinds {
		cells := []string{kind}
		for _, r := range models {
			cells = append(cells, kindCell(chosenMeasured(s.of(results, r, task)).set(kind)))
		}
		p.Row(cells...)
	}
	p.Printf("\n")
}

// measuredKinds is the names of the kinds of a task that were measured.
func (s *sequences) measuredKinds(results []Result, task string) (names []string) {
	for _, r := range s.rows {
		for _, set := range chosenMeasured(s.of(results, r, task)).Sets {
			isSet := slices.ContainsFunc(s.sets, func(known sequenceSet) bool { return known.name == set.Name })
			if !isSet && !slices.Contains(names, set.Name) {
				names = append(names, set.Name)
			}
		}
	}
	return names
}

func kindCell(m *measuredSet) string {
	switch {
	case m == nil:
		return ""
	case m.ponder() == "":
		return decimals(m.Decoded.Sequences)
	}
	return fmt.Sprintf("%s (%s)", decimals(m.Decoded.Sequences), m.ponder())
}

// writePonder links a figure of ponder times for each model of adaptive depth.
func (s *sequences) writePonder(p *Page, results []Result, task string) {
	for _, r := range s.rows {
		b := bars{title: fmt.Sprintf("%s: mean steps per position, %s", task, r.title), names: []string{"encoder", "decoder"}}
		for _, set := range chosenMeasured(s.of(results, r, task)).Sets {
			if set.Encoder > 0 {
				b.groups = append(b.groups, barGroup{set.Name, []float64{set.Encoder, set.Decoder}})
			}
		}
		if len(b.groups) > 0 {
			file := filepath.Join(s.experiment(r) + "-" + task + "-ponder.svg")
			p.Figures[file] = b.draw()
			p.Printf("![%s: ponder times of %s](%s)\n\n", task, s.experiment(r), p.Link(file))
		}
	}
}
