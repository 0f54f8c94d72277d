package task_test

import (
	"strings"
	"testing"

	"universal-transformer/task"
)

func TestSelection(t *testing.T) {
	for want, s := range map[string]task.Selection{
		"length is -1":                   {Length: -1},
		"mix is -2":                      {Mix: -2},
		"count is -3":                    {Count: -3},
		"length is 4 and mix is 5: give": {Length: 4, Mix: 5},
		"from is -1":                     {From: -1, Mix: 3},
		"from is 7 and mix is 6":         {From: 7, Mix: 6},
		"from is 1 and mix is 0":         {From: 1},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	for want, s := range map[string]task.Selection{
		"length 400":             {Length: 400, Count: 3},
		"lengths 1..40":          {Mix: 40},
		"lengths 60..100":        {Mix: 100, From: 60},
		"lengths 7..7":           {Mix: 7, From: 7},
		"lengths as in training": {Count: 9},
	} {
		if err := s.Validate(); err != nil || s.String() != want {
			t.Errorf("%+v is %q, %v, want %q", s, s, err, want)
		}
	}
}
