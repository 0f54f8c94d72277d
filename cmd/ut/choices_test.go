package main

import (
	"os"
	"strings"
	"testing"

	"universal-transformer/experiment"
)

// The pages and help texts that list the variants of a part list all of them, by their keys in configurations. Caught when planted: a row
// of each table of docs/training.md and docs/depth.md without a key; a key missing in each help text.
func TestTextsListEveryVariant(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	_, options, _ := strings.Cut(read("../../docs/training.md"), "\n## Options\n")
	_, halting, _ := strings.Cut(read("../../docs/training.md"), "\n## Halting\n")
	halting, _, _ = strings.Cut(halting, "\n## ")
	depth, steps, places := read("../../docs/depth.md"), succeeds(t, "help", "halting"), succeeds(t, "help", "positions")
	for _, c := range []struct{ part, text, before, after string }{
		{"model.transition", options, "`", "`"}, {"model.positions", options, "`", "`"}, {"model.counting", options, "`", "`"},
		{"model.coordinates", options, "`", "`"}, {"model.arrangement", options, "`", "`"}, {"training.schedule", options, "`", "`"},
		{"model.halting", halting, "`", "`"}, {"model.halting", steps, "\n  ", "  "},
		{"model.positions", places, " ", ""}, {"model.counting", places, " ", ""}, {"model.coordinates", places, " ", ""},
		{"training.ponder_cost", depth, "`{\"", "\""}, {"training.supervision", depth, "`{\"", "\""},
	} {
		keys := experiment.VariantKeys(c.part)
		if len(keys) < 2 {
			t.Errorf("%s has the variants %q", c.part, keys)
		}
		for _, key := range keys {
			if !strings.Contains(c.text, c.before+key+c.after) {
				t.Errorf("%s %s is missing in %.70q...", c.part, key, strings.TrimSpace(c.text))
			}
		}
	}
}
