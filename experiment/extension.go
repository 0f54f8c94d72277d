package experiment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Extensions are values of struct types that another module defines: its own tasks, halting policies, transitions, positions and
// schedules of the learning rate.
//
// A run may hold such a value without registration. JSON records it under "go:" and the name of its type, with its exported fields:
//
//	"halting": {"go:Settled": {"max_steps": 6}}
//
// To read that JSON, [Run.Extend] needs a value of the same type. Fields that the JSON does not mention are as in that value. A type with
// the method ExtensionName() string is recorded under the result instead of its name, so that several of its values can be told apart.
type Extensions struct {
	Tasks       []task.Definition
	Halting     []halting.Policy
	Transitions []universal.Transition
	Positions   []universal.Positions
	Schedules   []schedule.Schedule
}

// MissingTypeError reports a part of a run whose Go type is not among the [Extensions].
type MissingTypeError struct {
	Path string // of the part: "model.halting"
	Type string // its name: "Settled"
	List string // the field of Extensions that lacks it: "Halting"
}

func (e *MissingTypeError) Error() string {
	return fmt.Sprintf("%s is of the type %s, which the Go program that made this run defines: pass a value of it in Extensions.%s", e.Path, e.Type, e.List)
}

// extensionPrefix begins the JSON key of a type that is not in a table.
const extensionPrefix = "go:"

// Extend replaces the parts that JSON names by Go types with values of these types. [Run.Validate] returns a [MissingTypeError] for
// those that are not among x.
func (r Run) Extend(x Extensions) (Run, error) {
	var err error
	if r.Task, err = extend(r.Task, x.Tasks); err != nil {
		return r, err
	}
	if r.Training.Schedule, err = extend(r.Training.Schedule, x.Schedules); err != nil {
		return r, err
	}
	u := r.universal()
	if u == nil {
		return r, nil
	}
	if u.Halting, err = extend(u.Halting, x.Halting); err != nil {
		return r, err
	}
	if u.Transition, err = extend(u.Transition, x.Transitions); err != nil {
		return r, err
	}
	if u.Positions, err = extend(u.Positions, x.Positions); err != nil {
		return r, err
	}
	r.Model.Value = r.with(*u)
	return r, nil
}

// Extensions returns the run's values of types that are not in a table.
func (r Run) Extensions() (x Extensions) {
	x.Tasks, x.Schedules = r.Task.extensions(), r.Training.Schedule.extensions()
	if u := r.universal(); u != nil {
		x.Halting, x.Transitions, x.Positions = u.Halting.extensions(), u.Transition.extensions(), u.Positions.extensions()
	}
	return x
}

// With returns the values of x and those of more whose names x lacks.
func (x Extensions) With(more Extensions) Extensions {
	return Extensions{
		Tasks:       united(x.Tasks, more.Tasks),
		Halting:     united(x.Halting, more.Halting),
		Transitions: united(x.Transitions, more.Transitions),
		Positions:   united(x.Positions, more.Positions),
		Schedules:   united(x.Schedules, more.Schedules),
	}
}

// united returns a and the values of b with other names.
func united[T any](a, b []T) []T {
	all := slices.Clone(a)
	for _, value := range b {
		if !slices.ContainsFunc(all, func(v T) bool { return extensionKey(v) == extensionKey(value) }) {
			all = append(all, value)
		}
	}
	return all
}

// positionLimit names the limit of the run's positions. Those of other modules may have no field for it.
func (r Run) positionLimit() string {
	if u := r.universal(); u != nil && len(u.Positions.extensions()) > 0 {
		return "the limit of model.positions." + u.Positions.key()
	}
	return "model.positions.max"
}

// extensions returns the value if its type is not in the table.
func (v Variant[T, C]) extensions() []T {
	if _, missing := any(v.Value).(unresolved); missing || v.IsZero() || v.row() >= 0 {
		return nil
	}
	return []T{v.Value}
}

// extend replaces an unresolved part by the first of values with its key.
func extend[T checked, C choices[T]](v Variant[T, C], values []T) (Variant[T, C], error) {
	p, _ := v.table()
	for i, value := range values {
		for _, other := range values[:i] {
			if key := extensionKey(value); extensionKey(other) == key {
				return v, fmt.Errorf("%s: two extensions are named %q: rename one of %T and %T", p.path, key, other, value)
			}
		}
	}
	u, ok := any(v.Value).(unresolved)
	if !ok {
		return v, nil
	}
	for _, value := range values {
		if key := extensionKey(value); key == u.key() {
			decoded, err := row[T]{key, value}.decode(u.json())
			if err != nil {
				return v, below(p.path+"."+key, err)
			}
			return Variant[T, C]{decoded}, nil
		}
	}
	return v, nil
}

// extensionKey returns the key of a value that is not in a table, or "" if it is not of a named struct type or its name is empty.
func extensionKey(value any) string {
	if u, ok := value.(unresolved); ok {
		return u.key()
	}
	if named, ok := value.(interface{ ExtensionName() string }); ok {
		if name := named.ExtensionName(); name != "" {
			return extensionPrefix + name
		}
		return ""
	}
	if t := reflect.TypeOf(value); t != nil && t.Kind() == reflect.Struct && t.Name() != "" {
		return extensionPrefix + t.Name()
	}
	return ""
}

// extensible is a table whose part may hold values of types from other modules.
type extensible[T checked] interface{ unresolved(missing) T }

// unresolved is a value of a Go type that is not known yet.
type unresolved interface {
	key() string
	json() json.RawMessage
}

// missing is the JSON of an unresolved value.
type missing struct {
	error  MissingTypeError
	fields json.RawMessage
}

func (m missing) key() string                  { return extensionPrefix + m.error.Type }
func (m missing) json() json.RawMessage        { return m.fields }
func (m missing) MarshalJSON() ([]byte, error) { return m.fields, nil }

// The unresolved values of each part. Only Validate may be called: the embedded interfaces are nil.
type (
	missingTask struct {
		missing
		task.Definition
	}
	missingPolicy struct {
		missing
		halting.Policy
	}
	missingTransition struct {
		missing
		universal.Transition
	}
	missingPositions struct {
		missing
		universal.Positions
	}
	missingSchedule struct {
		missing
		schedule.Schedule
	}
)

// Validate returns a MissingTypeError.
func (m missingTask) Validate() error { return &m.error }

// Validate returns a MissingTypeError.
func (m missingPolicy) Validate() error { return &m.error }

// Validate returns a MissingTypeError.
func (m missingTransition) Validate() error { return &m.error }

// Validate returns a MissingTypeError.
func (m missingPositions) Validate() error { return &m.error }

// Validate returns a MissingTypeError.
func (m missingSchedule) Validate() error { return &m.error }

func (tasks) unresolved(m missing) task.Definition {
	m.error.List = "Tasks"
	return missingTask{missing: m}
}

func (policies) unresolved(m missing) halting.Policy {
	m.error.List = "Halting"
	return missingPolicy{missing: m}
}

func (transitions) unresolved(m missing) universal.Transition {
	m.error.List = "Transitions"
	return missingTransition{missing: m}
}

func (positionings) unresolved(m missing) universal.Positions {
	m.error.List = "Positions"
	return missingPositions{missing: m}
}

func (schedules) unresolved(m missing) schedule.Schedule {
	m.error.List = "Schedules"
	return missingSchedule{missing: m}
}
