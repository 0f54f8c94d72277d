package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// result is what the table needs of a result of ut sweep.
type result struct {
	Recipe   string  `json:"recipe"`
	Seed     int     `json:"seed"`
	Step     int     `json:"step"`
	BestStep int     `json:"best_step"`
	Seconds  float64 `json:"seconds"`
	Measured struct {
		Metrics []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"metrics"`
	} `json:"measured"`
	TrainedBy struct {
		CPU float64 `json:"cpu_seconds"`
	} `json:"trained_by"`

	value            float64  // the figure of the task
	encoder, decoder *float64 // ponder times at the best update; nil: none
}

// cell holds the results of one setting with several seeds.
type cell struct {
	name    string
	results []result
}

// printTable prints a row for each setting of every task: mean and standard deviation over the seeds.
func printTable(out io.Writer, dir string, tasks []dataset) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tsetting\tseeds\tmeasure\tvalue\tCPU seconds\tupdates\tbest update\tponder time, encoder and decoder")
	rows := 0
	for _, d := range tasks {
		for _, name := range []string{d.name, d.name + "-grid"} {
			cells, err := d.cells(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			for _, c := range cells {
				fmt.Fprintf(w, "%s\t%s\n", d.name, c.row(d.main))
				rows++
			}
		}
	}
	if rows == 0 {
		return fmt.Errorf("%s has no results", dir)
	}
	return w.Flush()
}

// cells reads the results of a sweep, the best setting first.
func (d dataset) cells(dir string) ([]cell, error) {
	files, err := filepath.Glob(filepath.Join(dir, "results", "*.json"))
	if err != nil {
		return nil, err
	}
	byName := map[string]*cell{}
	for _, path := range files {
		r, err := read(path, d.main)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := r.readPonder(filepath.Join(dir, fmt.Sprintf("%s-seed%d", r.Recipe, r.Seed), "metrics.jsonl")); err != nil {
			return nil, err
		}
		if byName[r.Recipe] == nil {
			byName[r.Recipe] = &cell{name: r.Recipe}
		}
		byName[r.Recipe].results = append(byName[r.Recipe].results, r)
	}
	var list []cell
	for _, c := range byName {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b cell) int {
		return cmp.Or(-cmp.Compare(d.main.better*a.mean(value), d.main.better*b.mean(value)), strings.Compare(a.name, b.name))
	})
	return list, nil
}

// read reads a result.
func read(path string, main measure) (result, error) {
	var r result
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	for _, m := range r.Measured.Metrics {
		if m.Name == main.metric {
			r.value = m.Value
			return r, nil
		}
	}
	return r, fmt.Errorf("it has no %s", main.metric)
}

// readPonder finds the ponder times of the best checkpoint's validation, if the run directory is still there.
func (r *result) readPonder(path string) error {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var row struct {
			Step    int      `json:"step"`
			Split   string   `json:"split"`
			Encoder *float64 `json:"encoder_ponder"`
			Decoder *float64 `json:"decoder_ponder"`
		}
		if json.Unmarshal(lines.Bytes(), &row) == nil && row.Split == "validation" && row.Step == r.BestStep {
			r.encoder, r.decoder = row.Encoder, row.Decoder
		}
	}
	return lines.Err()
}

// Quantities of a result.
func value(r result) float64      { return r.value }
func cpuSeconds(r result) float64 { return r.TrainedBy.CPU }
func steps(r result) float64      { return float64(r.Step) }
func bestStep(r result) float64   { return float64(r.BestStep) }

// mean returns the mean of a quantity over the seeds.
func (c cell) mean(of func(result) float64) float64 {
	sum := 0.0
	for _, r := range c.results {
		sum += of(r)
	}
	return sum / float64(len(c.results))
}

// deviation returns the standard deviation over the seeds, 0 for one seed.
func (c cell) deviation(of func(result) float64) float64 {
	if len(c.results) < 2 {
		return 0
	}
	mean := c.mean(of)
	return math.Sqrt(c.mean(func(r result) float64 { return (of(r) - mean) * (of(r) - mean) }) * float64(len(c.results)) / float64(len(c.results)-1))
}

// row returns the cells of a table, separated by tabs.
func (c cell) row(m measure) string {
	ponder := ""
	for _, of := range []func(result) *float64{func(r result) *float64 { return r.encoder }, func(r result) *float64 { return r.decoder }} {
		if of(c.results[0]) == nil {
			continue
		}
		ponder += fmt.Sprintf("%.2f ", c.mean(func(r result) float64 {
			if p := of(r); p != nil {
				return *p
			}
			return math.NaN()
		}))
	}
	return fmt.Sprintf("%s\t%d\t%s\t%.3f ± %.3f\t%.0f\t%.0f\t%.0f\t%s", c.name, len(c.results), m.unit, c.mean(value), c.deviation(value),
		c.mean(cpuSeconds), c.mean(steps), c.mean(bestStep), ponder)
}
