package experiment_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/text"
	"universal-transformer/universal"
)

// Runs differ in the known fields that both have, apart from their names and the places of files, whatever other fields one of them has.
// Caught when planted: no differences beside an unknown field; a file in another folder taken for another file.
func TestDifferingFields(t *testing.T) {
	r := experiment.Defaults()
	r.Task.Value = text.Text{Path: "here/book.txt", Length: 8}
	data := string(r.JSON())
	for change, want := range map[string]string{
		`"name": "own"|"name": "other"`:                                     "",
		`here/book.txt|there/volume.txt`:                                    "",
		`"training": {|"training": {"later": 7,`:                            "",
		`"training": {|"training": {"later": {"width": 7}, "clip_norm": 1,`: "",
		`"training": {|"another": {`:                                        "",
		`"width": 64|"later": 7, "width": 65`:                               "model.encoder_decoder.width",
		`"seed": 1|"seed": 2, "later": [1]`:                                 "seed",
		`"pre_norm": true|"pre_norm": "true"`:                               "model.encoder_decoder.pre_norm",
		`"length": 8|"length": 9, "seed": {"of": "something"}`:              "task.text.length",
	} {
		from, to, _ := strings.Cut(change, "|")
		if !strings.Contains(data, from) {
			t.Fatalf("%s is not in %s", from, data)
		}
		if got := strings.Join(r.Differing([]byte(strings.Replace(data, from, to, 1))), " "); got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
	if got := r.Differing([]byte("{")); got != nil {
		t.Errorf("no JSON: %q", got)
	}
}

// Two sets of types become one, in which those of the first precede others of the same name.
// Caught when planted: the second of two of the same name.
func TestExtensionsWith(t *testing.T) {
	two, seven := Doubled{halting.Fixed{Steps: 2}, 2}, Doubled{halting.Fixed{Steps: 7}, 7}
	a := experiment.Extensions{Halting: []halting.Policy{two}, Positions: []universal.Positions{Spread{}}}
	b := experiment.Extensions{Halting: []halting.Policy{seven, Alias{Name: "other"}}, Tasks: []task.Definition{Shuffle{Seed: 3}}, Transitions: []universal.Transition{Gated{}}}
	both := a.With(b)
	if !slices.Equal(both.Halting, []halting.Policy{two, Alias{Name: "other"}}) || len(both.Positions) != 1 || len(both.Tasks) != 1 || len(both.Transitions) != 1 || len(a.Halting) != 1 {
		t.Errorf("%+v", both)
	}
}

// Lost is a task of another module whose data are missing.
type Lost struct{ algorithmic.Copy }

// Open returns an error.
func (Lost) Open() (task.Task, error) {
	_, err := os.Open("no such data")
	return nil, err
}

// Missing data of a task of another module are an error without a field, which the task may lack. Caught when planted: the field path.
func TestMissingDataOfAnotherModule(t *testing.T) {
	r := foreign()
	r.Task.Value = Lost{}
	_, err := r.OpenTask()
	field := (*experiment.MissingFileError)(nil)
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &field) || !strings.HasPrefix(err.Error(), "task.go:Lost: ") {
		t.Error(err)
	}
}
