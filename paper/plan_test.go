package paper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func names(cells []Cell) string {
	var list []string
	for _, c := range cells {
		list = append(list, c.Name())
	}
	return strings.Join(list, " ")
}

// Every task comes once before any comes a second time; a table stands for all its experiments; tasks that lack a file are left
// out, and named once.
func TestCells(t *testing.T) {
	r := request("babi-1k-single", distribution(t), t.TempDir())
	r.Tasks, r.Seeds = []string{"2", "task01"}, []uint64{7, 3}
	want := "babi-1k-single/task01-seed7 babi-1k-single/task02-seed7 babi-1k-single/task01-seed3 babi-1k-single/task02-seed3"
	if cells, leftOut, err := r.Cells(); err != nil || leftOut != nil || names(cells) != want {
		t.Errorf("%s, %v, %v", names(cells), leftOut, err)
	} else if c := cells[3]; c.Run.Seed != 3 || c.Run.Name != "babi-1k-single/task02" || c.Run.Training.Steps != 60 || c.Dir() != filepath.Join(r.Runs, "babi-1k-single", "task02-seed3") {
		t.Errorf("%+v in %s", c.Run, c.Dir())
	}
	r.Tasks, r.Seeds = nil, []uint64{1, 2}
	if cells, leftOut, err := r.Cells(); err != nil || len(cells) != 4 || len(leftOut) != 18 || !strings.Contains(leftOut[0].Error(), "en/qa3_train.txt is missing") {
		t.Errorf("%s, %d left out, %v", names(cells), len(leftOut), err)
	}
	r.Name, r.Seeds = "table1", []uint64{1}
	if cells, leftOut, err := r.Cells(); err != nil || len(cells) != 6 || len(leftOut) != 3*18+3+3*20+3 {
		t.Errorf("%s, %d left out, %v", names(cells), len(leftOut), err)
	}
}

// What makes no sense is an error that says what would.
func TestCellsRefuse(t *testing.T) {
	data := distribution(t)
	for want, change := range map[string]func(*Request){
		`did you mean "babi-1k-single"`:             func(r *Request) { r.Name = "babi-1k-singel" },
		`"1" is no task of table2, which has`:       func(r *Request) { r.Name = "table2" },
		`"21" is no task of babi-1k-single`:         func(r *Request) { r.Tasks = []string{"1", "21"} },
		`"1" is no task of babi-1k-joint, which ha`: func(r *Request) { r.Name = "babi-1k-joint" },
		"en/qa3_train.txt is missing":               func(r *Request) { r.Tasks = []string{"1", "3"} },
		"en-10k/qa1_train.txt is missing":           func(r *Request) { r.Name, r.Tasks = "babi-10k-joint", nil },
		"stat nowhere":                              func(r *Request) { r.Data["data"] = "nowhere" },
		"stand_in is ":                              func(r *Request) { r.Data["stand-in"] = "partial.txt" },
		"no such file":                              func(r *Request) { r.Data["stand-in"] = "qa3_gone.txt" },
		"did you mean \"model.width\"":              func(r *Request) { r.Set = []string{"model.widht=3"} },
	} {
		r := request("babi-1k-single", data, t.TempDir())
		change(&r)
		if cells, _, err := r.Cells(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d cells, %v, want %q", len(cells), err, want)
		} else if wrong := (RequestError{}); errors.As(err, &wrong) != (r.Name != "babi-1k-single" && r.Name != "babi-10k-joint" || len(r.Tasks) == 2 && r.Tasks[1] == "21") {
			t.Errorf("%v is a RequestError: %v", err, errors.As(err, &wrong))
		}
	}
}

// A stand-in is trained on where its name says, and only there.
func TestStandIn(t *testing.T) {
	data := distribution(t)
	standIn := filepath.Join(t.TempDir(), "qa2_partial.txt")
	if err := os.Rename(filepath.Join(data, "en", "qa2_train.txt"), standIn); err != nil {
		t.Fatal(err)
	}
	r := request("babi-1k-single", data, t.TempDir())
	r.Tasks, r.Data["stand-in"] = []string{"1", "2"}, standIn
	cells := r.cells(t)
	for i, want := range []string{"bAbI en task 1", "bAbI en task 2, task 2 trained on the stand-in qa2_partial.txt"} {
		if got := cells[i].Run.Task.Value.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
