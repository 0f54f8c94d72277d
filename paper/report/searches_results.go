package report

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/strictjson"
	"universal-transformer/sweep"
)

// addResults adds the results of finished trials. Their configurations have the values that the sweep lists, and differ in no other field.
func (s *Search) addResults(results []sweep.Result) error {
	if len(results) > 0 && len(s.Trials) > 0 {
		return errors.New("it has trials and a folder of results: give one of them")
	}
	var before []configured
	for _, r := range results {
		c, err := s.configured(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
		for _, other := range before {
			if err := c.comparable(other); err != nil {
				return fmt.Errorf("%s: config: %w", r.Name(), err)
			}
		}
		figure, err := s.figure(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
		before = append(before, c)
		s.results = append(s.results, r)
		s.Trials = append(s.Trials, trial{r.Recipe, r.Seed, r.Step, figure, r.TrainedBy})
	}
	return nil
}

// figure returns the search's measure of a result, whose checkpoint must have been chosen by the same. The accuracy is what the sweep measured on the
// validation examples; without that, results have the cross entropy only.
func (s *Search) figure(r sweep.Result) (float64, error) {
	by := sweep.ByEntropy
	if s.Measure == byAccuracy {
		by = sweep.ByAccuracy
	}
	switch {
	case r.ChosenBy != by:
		return 0, fmt.Errorf("chosen_by is %q: it must be %q", r.ChosenBy, by)
	case s.Measure != byAccuracy:
		return r.Validation, nil
	case !s.file.Measure.Validation:
		return 0, fmt.Errorf("measure is %q, but the sweep has no measure.validation", s.Measure)
	}
	accuracy, ok, err := accuracyOf(r)
	if err == nil && !ok {
		err = errors.New("it has no metric accuracy")
	}
	return accuracy, err
}

// accuracyOf returns the accuracy that a sweep measured; ok is false if there is none.
func accuracyOf(r sweep.Result) (accuracy float64, ok bool, err error) {
	var m sweep.Metrics
	if err := r.Decode(&m); err != nil {
		return 0, false, err
	}
	i := slices.IndexFunc(m.Metrics, func(m sweep.Metric) bool { return m.Name == "accuracy" })
	if i < 0 {
		return 0, false, nil
	}
	return m.Metrics[i].Value, true, nil
}

// configured is the run of a result, with what its trial sets.
type configured struct {
	name     string
	run      experiment.Run
	assigned []string
}

// configured returns the run of a result, which must have the values of the trial with its name.
func (s *Search) configured(r sweep.Result) (c configured, err error) {
	assigned, ok := s.assignments(r.Recipe)
	if !ok {
		return c, s.unknown(r.Recipe)
	}
	run, err := experiment.Decode(r.Config)
	if err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	set, err := run.Set(slices.Concat(s.file.Set, assigned)...)
	if err != nil {
		return c, err
	}
	if fields := different(run, set); len(fields) > 0 {
		return c, fmt.Errorf("config: %s is %v: the sweep says %v", fields[0], run.Fields()[fields[0]], set.Fields()[fields[0]])
	}
	if want := s.file.Name + "/" + r.Recipe; run.Name != want || run.Seed != r.Seed {
		return c, fmt.Errorf("config: name is %q and seed %d: they must be %q and %d", run.Name, run.Seed, want, r.Seed)
	}
	return configured{r.Name(), run, assigned}, nil
}

// comparable returns an error if two runs differ in a field that neither of their trials sets. With the values of both trials, they have
// the same fields.
func (c configured) comparable(other configured) error {
	values := slices.Concat(c.assigned, other.assigned)
	run := c.run.Identity()
	run.Name, run.Seed = other.run.Name, other.run.Seed
	x, err := run.FieldsWith(values...)
	if err != nil {
		return err
	}
	y, err := other.run.Identity().FieldsWith(values...)
	if err != nil {
		return err
	}
	if fields := differentFields(x, y); len(fields) > 0 {
		return fmt.Errorf("%s is %v, that of %s is %v: their trials do not set the field", fields[0], x[fields[0]], other.name, y[fields[0]])
	}
	return nil
}

// assignments returns what a trial sets, apart from what all trials set.
func (s *Search) assignments(name string) ([]string, bool) {
	at := slices.IndexFunc(s.points, func(p sweep.Variant) bool { return p.Name == name })
	if at < 0 {
		return nil, false
	}
	return s.points[at].Set, true
}

func (s *Search) unknown(name string) error {
	var names []string
	for _, p := range s.points {
		names = append(names, p.Name)
	}
	return fmt.Errorf("the sweep has no trial %q: it has %s", name, strictjson.List(names))
}

// different returns the fields in which two runs differ, sorted. It does not matter where their files are.
func different(a, b experiment.Run) []string {
	return differentFields(a.Identity().Fields(), b.Identity().Fields())
}

// differentFields returns the fields with different values, sorted.
func differentFields(x, y map[string]any) (fields []string) {
	all := maps.Clone(x)
	maps.Copy(all, y)
	for field := range all {
		if x[field] != y[field] {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}
