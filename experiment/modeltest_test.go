package experiment

import (
	"reflect"
	"testing"

	"universal-transformer/internal/modeltest"
)

// The property tests of models run with every variant that a configuration can choose.
// Caught when planted: a policy, a counting and an arrangement that are not in internal/modeltest.
func TestEveryVariantIsTested(t *testing.T) {
	tested := map[reflect.Type]bool{}
	for _, p := range modeltest.Policies(4) {
		tested[reflect.TypeOf(p.Policy)] = true
	}
	addTypes(tested, modeltest.Transitions(8))
	addTypes(tested, modeltest.Arrangements())
	addTypes(tested, modeltest.Coordinates())
	addTypes(tested, modeltest.Countings())
	addTypes(tested, modeltest.Positions())
	requireTypes(t, tested, policies{}.rows())
	requireTypes(t, tested, transitions{}.rows())
	requireTypes(t, tested, arrangements{}.rows())
	requireTypes(t, tested, coordinates{}.rows())
	requireTypes(t, tested, countings{}.rows())
	requireTypes(t, tested, positionings{}.rows())
}

func addTypes[T any](types map[reflect.Type]bool, values []T) {
	for _, v := range values {
		types[reflect.TypeOf(v)] = true
	}
}

// requireTypes fails the test for every row whose type is not among types.
func requireTypes[T checked](t *testing.T, types map[reflect.Type]bool, rows []row[T]) {
	t.Helper()
	for _, r := range rows {
		if of := reflect.TypeOf(r.defaults); !types[of] {
			t.Errorf("%s (%v) is in choices.go, but not in internal/modeltest/variants.go, whose models the tests of padding, causality, cache and selection run with", r.key, of)
		}
	}
}
