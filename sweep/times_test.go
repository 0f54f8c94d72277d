package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// timed returns the errors of published results whose times contradict one another, by their names.
//
//   - The wall time of training is at most a fifth and five seconds above seconds, if no update was repeated: opening data and compiling count in the
//     first only, and time in which the process was suspended in the second only.
//   - Training and measurement use a fiftieth of their threads at least.
//   - An update has a number of rows or of positions that the configuration gives, so step and the rates give the time of training. The rates are
//     those of the last session; rows are nearly exact, and a batch of positions is at least a tenth full.
//   - Positions per example are those of the runs on the same task, up to a factor of 2.
//   - A run without curve, wall time and rates takes as long for an update as the runs on the same task, up to a factor of 10.
func timed(all []Result) map[string]error {
	found, lengths, updates := map[string]error{}, map[string][]float64{}, map[string][]float64{}
	for _, r := range all {
		if r.ExamplesPerSecond > 0 {
			lengths[group(r)] = append(lengths[group(r)], r.PositionsPerSecond/r.ExamplesPerSecond)
		}
		updates[group(r)] = append(updates[group(r)], r.Seconds/float64(r.Step))
	}
	for _, list := range []map[string][]float64{lengths, updates} {
		for _, values := range list {
			slices.Sort(values)
		}
	}
	for _, r := range all {
		p, length, update := r.TrainedBy, median(lengths[group(r)]), median(updates[group(r)])
		perUpdate := r.Seconds / float64(r.Step)
		err := errors.Join(rates(r), within("seconds of an update", perUpdate, 1e-4, 10))
		if p.Updates == r.Step {
			err = errors.Join(err, within("trained_by.wall_seconds", p.WallSeconds, 0, 1.2*r.Seconds+5))
		}
		err = errors.Join(err, busy("trained_by", p), busy("measured_by", r.MeasuredBy))
		if r.ExamplesPerSecond > 0 {
			err = errors.Join(err, within("positions of an example", r.PositionsPerSecond/r.ExamplesPerSecond, length/2, length*2))
		}
		if p.WallSeconds == 0 && r.ExamplesPerSecond == 0 && (r.Curve == nil || r.Curve.Seconds == nil) {
			err = errors.Join(err, within("seconds of an update", perUpdate, update/10, update*10))
		}
		if err != nil {
			found[r.Name()] = err
		}
	}
	return found
}

// group names the task of a result: the first word of its family, and its column.
func group(r Result) string {
	word, _, _ := strings.Cut(r.Family(), "-")
	return word + "/" + r.Column()
}

// median returns the middle of a sorted list, 0 of an empty one.
func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// busy checks the CPU time of a provenance. The garbage collector has threads of its own.
func busy(name string, p Provenance) error {
	all := float64(p.Threads) * p.WallSeconds
	return within(name+".cpu_seconds", p.CPUSeconds, 0.02*all, 1.25*all)
}

func within(name string, value, low, high float64) error {
	if !(value >= low && value <= high) {
		return fmt.Errorf("%s is %v, not from %v to %v", name, value, low, high)
	}
	return nil
}

// rates checks the rates of training.
func rates(r Result) error {
	var c struct {
		Training struct {
			Accumulate int64
			Batch      struct{ Tokens, Rows int64 }
		}
	}
	if err := json.Unmarshal(r.Config, &c); err != nil {
		return err
	}
	of := c.Training.Batch
	if r.ExamplesPerSecond == 0 && r.PositionsPerSecond == 0 { // not recorded
		return nil
	}
	var err error
	for _, s := range lastSessions(r) {
		updates := s.updates * float64(max(c.Training.Accumulate, 1))
		if of.Rows > 0 {
			err = within("seconds by rows and examples_per_second", updates*float64(of.Rows)/r.ExamplesPerSecond, 0.6*s.seconds, 1.05*s.seconds)
		} else {
			err = within("seconds by positions and positions_per_second", updates*float64(of.Tokens)/r.PositionsPerSecond, 0.1*s.seconds, 1.5*s.seconds)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// session is a number of updates and the seconds that they took.
type session struct{ updates, seconds float64 }

// lastSessions returns what the rates may be about: the whole run, or any end of the learning curve if a run was killed, and went on in a session that
// may have had more of the processor.
func lastSessions(r Result) (list []session) {
	c := r.Curve
	if r.TrainedBy.Updates <= r.Step || c == nil || c.Seconds == nil {
		return []session{{float64(r.Step), r.Seconds}}
	}
	last := len(c.Updates) - 1
	for i := range last {
		list = append(list, session{float64(c.Updates[last] - c.Updates[i]), c.Seconds[last] - c.Seconds[i]})
	}
	return list
}

// The times of published results agree.
func TestPublishedTimes(t *testing.T) {
	for name, err := range timed(publishedResults(t)) {
		t.Errorf("%s: %v", name, err)
	}
}

// An edit of a time, a rate or a provenance of a published result is noticed. Of the results, each has other records: curve and wall time, rates
// by rows, rates by positions, rates of the last of two sessions, none of them.
func TestPublishedEditsOfTimes(t *testing.T) {
	all := publishedResults(t)
	for name, edits := range map[string][]string{
		"algorithmic-adam-lstm/copy-seed2":         {"seconds", "trained wall", "trained cpu", "trained updates", "measured wall", "measured cpu", "examples", "positions", "processor", "generation", "device"},
		"agreement/pairs-novels-seed1":             {"seconds", "trained wall", "trained cpu", "examples"}, // no other run has its positions per example
		"agreement/natural-text-seed1":             {"seconds", "examples", "positions"},
		"babi-10k-single-transformer/task05-seed1": {"seconds", "examples", "positions"},
		"algorithmic-adam/copy-seed1":              {"seconds", "examples", "positions"},
		"algorithmic-adam/reverse-seed1":           {"seconds"},
		"agreement-adaptive/natural-classes-seed2": {"seconds"},
	} {
		at := slices.IndexFunc(all, func(r Result) bool { return r.Name() == name })
		if at < 0 {
			t.Fatalf("%s is not published", name)
		}
		for _, edit := range edits {
			for _, factor := range []float64{0.01, 100} {
				edited := slices.Clone(all)
				if edited[at] = editTime(t, all[at], edit, factor); refusedTime(edited, at) == nil {
					t.Errorf("%s: %s times %v is not noticed", name, edit, factor)
				}
			}
		}
	}
}

// editTime returns a result with a changed field.
func editTime(t *testing.T, r Result, field string, factor float64) Result {
	t.Helper()
	switch field {
	case "seconds":
		r.Seconds *= factor
	case "trained wall":
		r.TrainedBy.WallSeconds *= factor
	case "trained cpu":
		r.TrainedBy.CPUSeconds *= factor
	case "trained updates":
		r.TrainedBy.Updates = 1
	case "measured wall":
		r.MeasuredBy.WallSeconds *= factor
	case "measured cpu":
		r.MeasuredBy.CPUSeconds *= factor
	case "examples":
		r.ExamplesPerSecond *= factor
	case "positions":
		r.PositionsPerSecond *= factor
	case "processor":
		r.TrainedBy.CPU = "Intel with AMX"
	case "generation":
		r.MeasuredBy.CPU = "AMD EPYC 9R14"
	case "device":
		r.TrainedBy.Device = "NVIDIA H200"
	default:
		t.Fatal(field)
	}
	return r
}

// refusedTime returns the error of the result at an index of all published ones.
func refusedTime(all []Result, at int) error {
	data, err := json.Marshal(all[at])
	if err == nil {
		_, err = Parse(data)
	}
	return errors.Join(err, plausible(all[at].Header), timed(all)[all[at].Name()])
}
