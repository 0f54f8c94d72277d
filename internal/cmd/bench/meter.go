package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A meter measures jobs.
type meter struct {
	rounds  int
	measure func(j job, command []string) (sample, error) // runs a command once
}

// A runner runs commands.
type runner struct {
	repeat, threads int
	timeout         time.Duration
}

// A sample is what one turn reports.
type sample struct {
	Seconds float64 `json:"seconds"`
	GFlops  float64 `json:"gflops"`
	Updates float64 `json:"decoder_mean_updates"` // mean number of steps of a decoder's position, at adaptive depth
}

// header returns the first two lines of the table.
func header(sides []side) string {
	names, rule := "| work |", "|---|"
	for _, s := range sides {
		names += " " + s.name + ", ms |"
		rule += "---|"
	}
	names, rule = names+" share of peak |", rule+"---|"
	for _, s := range sides {
		if s.against >= 0 {
			names += " " + sides[s.against].name + " against " + s.name + " |"
			rule += "---|"
		}
	}
	return names + "\n" + rule + "\n"
}

// row runs the engines in turns and returns the row of their medians, of the share of the processor's peak that float32 products have, and
// of the ratios of speeds, and why engines failed. Engines without the job have empty cells, those that failed have "-".
func (m meter) row(j job, sides []side) (row string, failures []string) {
	times := make([][]float64, len(sides))
	failures = make([]string, len(sides))
	updates := make([]float64, len(sides))
	var shares []float64
	for range m.rounds {
		peak, err := m.measure(job{one: j.one}, []string{sides[float32Side].command(j)[0], "bench", "peak"})
		for i, s := range sides {
			command := s.command(j)
			if command == nil || failures[i] != "" {
				continue
			}
			v, failure := m.measure(j, command)
			if failure != nil {
				failures[i] = failure.Error()
				continue
			}
			times[i], updates[i] = append(times[i], v.Seconds), v.Updates
			if i == float32Side && err == nil && v.GFlops > 0 {
				shares = append(shares, v.GFlops/peak.GFlops)
			}
		}
	}
	medians := make([]float64, len(sides))
	row = "| " + j.name + " |"
	for i := range sides {
		medians[i] = median(times[i])
		format := "%.1f"
		if updates[i] > 0 {
			format += fmt.Sprintf(" at %.1f steps", updates[i])
		}
		row += cell(failures[i], format, 1000*medians[i])
	}
	return row + cell("", "%.2f", median(shares)) + ratios(sides, medians) + "\n", failures
}

// ratios returns the cells of how many times as long the peers take.
func ratios(sides []side, medians []float64) (cells string) {
	for i, s := range sides {
		if s.against < 0 {
			continue
		}
		ratio := 0.0
		if ours := medians[s.against]; ours > 0 {
			ratio = medians[i] / ours
		}
		cells += cell("", "%.2f", ratio)
	}
	return cells
}

// A note says why an engine has no time in some rows.
type note struct {
	text string // engine and reason
	rows []string
}

// addFailures adds why engines failed in a row, to the note of the same reason if there is one.
func addFailures(notes []note, sides []side, row string, failures []string) []note {
	for i, failure := range failures {
		if failure == "" {
			continue
		}
		text := sides[i].name + ": " + failure
		at := slices.IndexFunc(notes, func(n note) bool { return n.text == text })
		if at < 0 {
			notes, at = append(notes, note{text: text}), len(notes)
		}
		notes[at].rows = append(notes[at].rows, row)
	}
	return notes
}

// String returns a line.
func (n note) String() string {
	rows := n.rows[0]
	if len(n.rows) > 1 {
		rows = fmt.Sprintf("%d rows", len(n.rows))
	}
	return fmt.Sprintf("- %s (%s)\n", n.text, rows)
}

// cell returns a cell with "-" for a failure, or a value, or nothing if the value is 0.
func cell(failure, format string, value float64) string {
	switch {
	case failure != "":
		return " - |"
	case value == 0:
		return " |"
	}
	return " " + fmt.Sprintf(format, value) + " |"
}

// arguments returns the arguments of a command for a turn, and the number of threads.
func (r runner) arguments(j job, command []string) (args []string, threads int) {
	threads = r.threads
	if j.one {
		threads = 1
	}
	return append(slices.Clone(command[1:]), "--repeat", fmt.Sprint(r.repeat), "--warmup", fmt.Sprint(j.warmup()), "--threads", fmt.Sprint(threads)), threads
}

// once runs a command that prints a line of JSON.
func (r runner) once(j job, command []string) (sample, error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	args, threads := r.arguments(j, command)
	c := exec.CommandContext(ctx, command[0], args...)
	c.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads))
	var said bytes.Buffer
	c.Stderr = io.MultiWriter(os.Stderr, &said)
	output, err := c.Output()
	if ctx.Err() != nil {
		return sample{}, fmt.Errorf("over %s", r.timeout)
	}
	if err != nil {
		return sample{}, reason(said.String(), err)
	}
	var v sample
	if err := json.Unmarshal(output, &v); err != nil || v.Seconds <= 0 {
		return sample{}, fmt.Errorf("%s printed no seconds", command[0])
	}
	return v, nil
}

// reason returns the last line that a failed command wrote, or its error if it wrote none.
func reason(said string, err error) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return errors.New(last)
	}
	return err
}

// median returns the median of values, the mean of the middle two if their number is even, or 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
