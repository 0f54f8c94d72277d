package experiment

import (
	"encoding/json"
	"reflect"
	"testing"
)

// A field that a variant's defaults set is written also when it is zero, so that a complete configuration is read as it was written.
// Caught when planted: omitempty at the pool of classifiers.
func TestDefaultsOfVariantsAreWritten(t *testing.T) {
	checkRows(t, tasks{}.rows())
	checkRows(t, models{}.rows())
	checkRows(t, transitions{}.rows())
	checkRows(t, policies{}.rows())
	checkRows(t, coordinates{}.rows())
	checkRows(t, countings{}.rows())
	checkRows(t, positionings{}.rows())
	checkRows(t, schedules{}.rows())
}

func checkRows[T checked](t *testing.T, rows []row[T]) {
	t.Helper()
	for _, r := range rows {
		zero, set := fieldsOf(t, reflect.Zero(reflect.TypeOf(r.defaults)).Interface()), fieldsOf(t, r.defaults)
		for field, value := range set {
			if v := reflect.ValueOf(value); v.Kind() == reflect.Bool && !v.Bool() || v.Kind() == reflect.Float64 && v.Float() == 0 || v.Kind() == reflect.String && v.String() == "" {
				continue
			}
			if _, ok := zero[field]; !ok {
				t.Errorf("%s: %s is %v by default, and left out where it is zero", r.key, field, value)
			}
		}
	}
}

// fieldsOf returns the members of a value's JSON.
func fieldsOf(t *testing.T, v any) (fields map[string]any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}
