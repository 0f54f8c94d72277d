package experiment_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/task/algorithmic"
)

// Pondered is a task of another module with a field of the name of one of training.
type Pondered struct {
	algorithmic.Copy
	WeighByTokens bool `json:"weigh_by_tokens"`
	More          int  `json:"more"`
}

// The digest is that of the JSON without training.weigh_by_tokens if that is false, as version 0.2 wrote it, and has all other fields.
// Caught when planted: the field of a task left out in its place; the field left out if it is true; the order of the fields changed.
func TestDigestIsOfEarlierForm(t *testing.T) {
	weighed := recipes.MustRun("algorithmic-paper/copy")
	weighed.Task.Value = Pondered{More: 3}
	changed := weighed
	changed.Training.WeighByTokens = true
	for _, r := range []experiment.Run{recipes.MustRun("algorithmic/addition"), recipes.MustRun("babi-10k-single/task01"), recipes.MustRun("own-labels"), weighed, changed} {
		text := string(r.Identity().JSON())
		if !r.Training.WeighByTokens {
			const line = "\n    \"weigh_by_tokens\": false," // of an object in the run
			if strings.Count(text, line) != 1 {
				t.Fatalf("%s has %d lines %q", text, strings.Count(text, line), line)
			}
			text = strings.Replace(text, line, "", 1)
		}
		if got, want := r.Digest(), fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != want {
			t.Errorf("%s, %t: the digest is %s, want %s", r.Name, r.Training.WeighByTokens, got, want)
		}
	}
}
