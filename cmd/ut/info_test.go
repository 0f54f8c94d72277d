package main

import (
	"bytes"
	"strings"
	"testing"

	"universal-transformer/pipeline"
)

// The number of updates comes with that of the newest checkpoint if the last ones are not saved. Caught when planted: the oldest checkpoint in
// place of the newest; the words also if all are saved.
func TestInfoOfUnsavedUpdates(t *testing.T) {
	for want, i := range map[string]pipeline.Info{
		"updates          40 of 100, saved up to update 20\n": {Step: 40, Steps: 100, Checkpoints: []int64{10, 20}},
		"updates          40 of 100\n":                        {Step: 40, Steps: 100, Checkpoints: []int64{20, 40}},
		"updates          0 of 100\n":                         {Steps: 100},
	} {
		i.Newest = &pipeline.Validation{Step: i.Step}
		var b bytes.Buffer
		if err := printInfo(&b, i); err != nil || !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "last validation  update ") {
			t.Errorf("%s, %v, want %q", &b, err, want)
		}
	}
}
