//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sampleResult is a result of table 4, as ut table run writes it.
const sampleResult = `{
  "recipe": "algorithmic/copy", "seed": 1, "model": "a model", "data": "copy", "parameters": 100, "step": 50, "best_step": 40,
  "validation": 0.25, "chosen_by": "validation cross entropy", "stopped": "done", "seconds": 8, "examples_per_second": 4, "positions_per_second": 2,
  "threads": 1, "measured_by": {"version": "0.2.0", "commit": "0000000"},
  "measured": {"sets": [{"name": "length 400", "examples": 100,
    "decoded": {"tokens": {"correct": 300, "total": 400, "value": 0.75}, "sequences": {"correct": 25, "total": 100, "value": 0.25}},
    "cut": 0, "first_wrong": 0.5}]},
  "config": {}
}
`

// hostileText would end a cell, begin a tag, a link and a heading, and would be executed by a page.
const hostileText = `x | y](javascript:alert(1)) <script>alert(1)</script>\n# heading`

var (
	anyNumber   = regexp.MustCompile(`"(\w+)": (-?[0-9.]+)`)
	anyText     = regexp.MustCompile(`"(model|data|chosen_by|stopped|name|version|commit)": "[^"]*"`)
	accuracyOne = regexp.MustCompile(`"correct": (\d+), "total": (\d+), "value": ([0-9.]+)`)
)

// forgedResults changes one value of a result, and makes the pages of all tables from it.
func forgedResults(w *world) part {
	var p part
	add := func(name, content string, valid bool) {
		p.trials = append(p.trials, trial{"forged result: " + name, func(s *scene) { s.forgedResult(content, valid) }})
	}
	add("none", sampleResult, true)
	for _, at := range anyNumber.FindAllStringSubmatchIndex(sampleResult, -1) {
		key := sampleResult[at[2]:at[3]]
		for _, value := range []string{"null", "-1", "1e999", `"1"`} {
			add(fmt.Sprintf("%s at %d is %s", key, at[0], value), sampleResult[:at[4]]+value+sampleResult[at[5]:], false)
		}
	}
	for _, at := range accuracyOne.FindAllStringSubmatchIndex(sampleResult, -1) {
		for i, value := range map[int]string{2: "9999", 6: "0.5"} { // more correct ones than there are, another share than theirs
			add(fmt.Sprintf("accuracy at %d is %s", at[i], value), sampleResult[:at[i]]+value+sampleResult[at[i+1]:], false)
		}
	}
	for _, at := range anyText.FindAllStringSubmatchIndex(sampleResult, -1) {
		key := sampleResult[at[2]:at[3]]
		add("text of "+key, sampleResult[:at[0]]+fmt.Sprintf(`"%s": "%s"`, key, hostileText)+sampleResult[at[1]:], true)
	}
	return p
}

// forgedResult makes pages from a result. If it is not valid, it must be refused by its name. Otherwise no text of it may be markup.
func (s *scene) forgedResult(content string, valid bool) {
	folder := filepath.Join(s.dir, "results", "algorithmic")
	must(os.MkdirAll(folder, 0o755))
	must(os.WriteFile(filepath.Join(folder, "copy-seed1.json"), []byte(content), 0o644))
	r := s.ut("table", "report", "--results", "results", "--out", "RESULTS.md")
	switch {
	case r.fault() != "":
		s.note("", r.fault(), r.says())
	case r.code != 0:
		s.note("", r.refusal("copy-seed1"), r.says())
	case !valid:
		s.note("", silent, "it is accepted")
	default:
		s.note("", harmlessMarkup(read(s.dir)), strings.Join(slices.Sorted(maps.Keys(read(s.dir))), " "))
	}
}

// harmlessMarkup looks for markup of hostileText in all pages.
func harmlessMarkup(files contents) class {
	for _, name := range files.files() {
		for line := range strings.Lines(string(files[name])) {
			ends := strings.Contains(line, "x | y") && strings.HasPrefix(line, "|")
			if !strings.HasSuffix(name, ".json") && (ends || strings.Contains(line, "<script>") || strings.Contains(line, "](javascript") || strings.HasPrefix(line, "# heading")) {
				return silent
			}
		}
	}
	return harmless
}
