package report

import (
	"strings"
	"testing"

	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// Figures of a story stand in the order of the errors of their models, the titles name simulated questions, and the best seeds without a figure are
// listed; fixed depth has no figure 3. Caught when planted: the order of the rows; a figure of another seed; figure 3 of fixed depth listed; a
// stand-in that is not called simulated.
func TestStoryFigures(t *testing.T) {
	simulated := &measure.Babi{
		StandIn: "qa3_simulated.txt", StandInQuestions: 10_000, TrainingQuestions: 9000, Validation: measure.Errors{Questions: 100, Wrong: 1},
		Tests: []measure.BabiTest{{Task: 3, Errors: measure.Errors{Questions: 100, Wrong: 2}}},
	}
	results := []sweep.Result{
		answered(t, "babi-1k-single-adaptive/task03", 1, 3, 1, 40), answered(t, "babi-1k-single-adaptive/task03", 2, 3, 9, 1),
		answered(t, "babi-1k-single/task03", 1, 3, 1, 50), result(t, "babi-10k-simulated-adaptive/task03", 1, 1, simulated),
	}
	kept := []string{"babi-1k-single-adaptive/task03-seed1-figure3.svg", "babi-1k-single-adaptive/task03-seed2-figure8.svg", "babi-10k-simulated-adaptive/task03-seed1-figure3.svg"}
	pages, err := Render(Input{Results: results}, "results", func(file string) bool { return strings.Contains(strings.Join(kept, " "), file) })
	if err != nil {
		t.Fatal(err)
	}
	page := string(pages.Files["table1.md"])
	at := -1
	for _, want := range []string{
		"\nFigure 3, babi-10k-simulated-adaptive, error 2.0 %, task 3 from 10,000 simulated questions:\n", "\nFigure 3, babi-1k-single-adaptive, error 40.0 %:\n",
		"Of the best seeds of these, no figure was kept: figure 8, babi-1k-single; figure 8, babi-1k-single-adaptive; figure 8, babi-10k-simulated-adaptive.\n",
	} {
		next := strings.Index(page, want)
		if next <= at {
			t.Errorf("table1.md lacks %q, or it stands earlier", want)
		}
		at = next
	}
}

// Runs whose checkpoints were chosen by the ponder time of an earlier version are counted by row. Caught when planted: all runs counted; nothing said.
func TestOtherCriteria(t *testing.T) {
	earlier := answered(t, "babi-1k-single/task02", 1, 2, 5, 5)
	earlier.ChosenBy = "validation accuracy, then the lowest ponder time, then cross entropy"
	pages := render(t, []sweep.Result{earlier, answered(t, "babi-1k-single/task02", 2, 2, 5, 5), answered(t, "babi-1k-joint/joint", 1, 2, 5, 5)})
	if page := string(pages.Files["table1.md"]); !strings.Contains(page, " Version 0.1 trained 1 of 2 runs of babi-1k-single, with the same configurations;") {
		t.Error("table1.md does not count the runs of version 0.1")
	}
}
