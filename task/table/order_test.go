package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
)

// The order of training, and the choice of held-out pairs, are those of the streams "table/epoch" and "table/held-out", so that runs of earlier
// versions go on as they began. Caught when planted: streams of another name.
func TestOrderOfTraining(t *testing.T) {
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, "%c\tx\n", 'a'+i)
	}
	path := write(t, lines.String())
	tk, _ := open(t, Table{Path: path, HeldOut: 0.5})
	n := len(tk.TrainingPart)
	for i := range 2 * n {
		order := seed.NewPermutation(7, "table/epoch", int64(i/n), n)
		at := order.At(i % n)
		if got := tk.Training(7, int64(i)); !slices.Equal(got.Source, tk.TrainingPart[at].Source) {
			t.Errorf("example %d is %v, want %v", i, got.Source, tk.TrainingPart[at].Source)
		}
	}
	picked, err := tk.HeldOut(7, task.Selection{Count: 2})
	order := seed.NewPermutation(7, "table/held-out", 0, len(tk.TestPart))
	if err != nil || len(picked) != 2 || !slices.Equal(picked[1].Source, tk.TestPart[order.At(1)].Source) {
		t.Errorf("%v, %v", picked, err)
	}
}
