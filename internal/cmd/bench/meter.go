package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A meter measures jobs.
type meter struct {
	rounds, repeat, threads int
	timeout                 time.Duration
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
// of the ratios of speeds. Engines without the job, and those that fail, have none.
func (m meter) row(j job, sides []side) string {
	times := make([][]float64, len(sides))
	failures := make([]string, len(sides))
	updates := make([]float64, len(sides))
	var shares []float64
	for range m.rounds {
		peak, err := m.once(job{one: j.one}, []string{sides[float32Side].command(j)[0], "bench", "peak"})
		for i, s := range sides {
			command := s.command(j)
			if command == nil || failures[i] != "" {
				continue
			}
			v, failure := m.once(j, command)
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
	row := "| " + j.name + " |"
	for i := range sides {
		medians[i] = median(times[i])
		format := "%.1f"
		if updates[i] > 0 {
			format += fmt.Sprintf(" at %.1f steps", updates[i])
		}
		row += cell(failures[i], format, 1000*medians[i])
	}
	row += cell("", "%.2f", median(shares))
	for i, s := range sides {
		if s.against >= 0 {
			ratio := 0.0
			if ours := medians[s.against]; ours > 0 {
				ratio = medians[i] / ours
			}
			row += cell("", "%.2f", ratio)
		}
	}
	return row + "\n"
}

// cell returns a cell with a failure, or a value, or nothing if the value is 0.
func cell(failure, format string, value float64) string {
	switch {
	case failure != "":
		return " " + strings.ReplaceAll(failure, "|", "/") + " |"
	case value == 0:
		return " |"
	}
	return " " + fmt.Sprintf(format, value) + " |"
}

// arguments returns the arguments of a command for a turn, and the number of threads.
func (m meter) arguments(j job, command []string) (args []string, threads int) {
	threads = m.threads
	if j.one {
		threads = 1
	}
	return append(slices.Clone(command[1:]), "--repeat", fmt.Sprint(m.repeat), "--warmup", fmt.Sprint(j.warmup()), "--threads", fmt.Sprint(threads)), threads
}

// once runs a command that prints a line of JSON.
func (m meter) once(j job, command []string) (sample, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	args, threads := m.arguments(j, command)
	c := exec.CommandContext(ctx, command[0], args...)
	c.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads))
	c.Stderr = os.Stderr
	output, err := c.Output()
	if ctx.Err() != nil {
		return sample{}, fmt.Errorf("over %s", m.timeout)
	}
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", strings.Join(append(command[:1:1], args...), " "), err)
	}
	var v sample
	if err := json.Unmarshal(output, &v); err != nil || v.Seconds <= 0 {
		return sample{}, fmt.Errorf("%s printed no seconds", command[0])
	}
	return v, nil
}

// median returns the median of values, or 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
