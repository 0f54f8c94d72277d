package table

import (
	"fmt"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/tabular"
	"universal-transformer/task"
)

// A Report describes what Open found.
type Report struct {
	Files      []tabular.Report      `json:"files"`      // the file, and the held-out file if there is one
	Training   int                   `json:"training"`   // number of training examples
	Validation int                   `json:"validation"` // number of examples for choosing a checkpoint
	HeldOut    int                   `json:"held_out"`   // number of examples for evaluation
	Repeated   int                   `json:"repeated"`   // held-out examples whose source is also a training source; possible only with a held-out file
	Ambiguous  int                   `json:"ambiguous"`  // lines whose source also occurs with another target in the same file; no model can answer all of them correctly
	Source     tabular.UnknownTokens `json:"unknown_source"`
	Target     tabular.UnknownTokens `json:"unknown_target"`
	NewSource  tabular.UnknownTokens `json:"-"` // of training pairs, if the vocabularies are those of an earlier run
	NewTarget  tabular.UnknownTokens `json:"-"`
}

// String formats the report as a few lines, without a newline at the end.
func (r *Report) String() string {
	var lines []string
	for _, f := range r.Files {
		lines = append(lines, f.String())
	}
	lines = append(lines, fmt.Sprintf("%s for training, %d for choosing a checkpoint, %d for evaluation", quantity.Regular(r.Training, "examples"), r.Validation, r.HeldOut))
	lines = append(lines, task.FewNotes("pairs", r.Validation, r.HeldOut)...)
	if r.Ambiguous > 0 {
		lines = append(lines, fmt.Sprintf("%s a source that also occurs with another target: not all of them can be answered correctly", quantity.Of(r.Ambiguous, "example has", "examples have")))
	}
	if r.Repeated > 0 {
		lines = append(lines, fmt.Sprintf("%s a source that is also in the training part", quantity.Of(r.Repeated, "held-out example has", "held-out examples have")))
	}
	lines = append(lines, r.NewSource.NewLines("sources")...)
	lines = append(lines, r.NewTarget.NewLines("targets")...)
	lines = append(lines, r.Source.Lines("sources")...)
	lines = append(lines, r.Target.Lines("targets")...)
	return strings.Join(lines, "\n")
}
