package halting_test

import (
	"testing"

	"universal-transformer/halting"
)

func TestCapacitiesValidate(t *testing.T) {
	for _, bad := range []halting.Capacities{
		{{Positions: 0, Rows: 1, Longest: 1}}, {{Positions: 21, Rows: 4, Longest: 5}}, {{Positions: 5, Rows: 5, Longest: 5}},
		{{Positions: 5, Rows: 4, Longest: 6}}, {{Positions: 5, Rows: 2, Longest: 4}, {Positions: 6, Rows: 2, Longest: 4}},
	} {
		if bad.Validate(4, 5) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if err := (halting.Capacities{{20, 4, 5}, {7, 3, 5}, {7, 3, 5}, {1, 1, 1}}).Validate(4, 5); err != nil {
		t.Error(err)
	}
}
