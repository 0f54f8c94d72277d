package parallel_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"universal-transformer/internal/parallel"
)

// Ranks that differ from rank 0 are named with both values and the fix, on all ranks alike; a trait that is only noted is a note.
// Caught when planted: the last rank not compared; an error that only rank 0 has; a missing trait taken for an equal one.
func TestIntroduce(t *testing.T) {
	of := func(command, version, arguments string) []parallel.Trait {
		return []parallel.Trait{
			{Name: "command", Value: command, Fix: "start the same"}, {Name: "version", Value: version, Fix: "copy one binary"},
			{Name: "command line", Value: arguments, Fix: "the first counts", Noted: true},
		}
	}
	for name, c := range map[string]struct {
		ranks [][]parallel.Trait
		notes []string
		want  string
	}{
		"alone":     {[][]parallel.Trait{of("train", "1", "a")}, nil, ""},
		"equal":     {[][]parallel.Trait{of("train", "1", "a"), of("train", "1", "a")}, nil, ""},
		"build":     {[][]parallel.Trait{of("train", "1", "a"), of("train", "1", "a"), of("train", "2", "a")}, nil, "rank 2: the version differs from that of rank 0 (2, not 1): copy one binary"},
		"several":   {[][]parallel.Trait{of("train", "1", "a"), of("train", "3", "a"), of("train", "2", "a")}, nil, "rank 1, 2: the version differs from that of rank 0 (3, not 1): copy one binary"},
		"command":   {[][]parallel.Trait{of("train", "1", "a"), of("version", "2", "b")}, nil, "rank 1: the command differs from that of rank 0 (version, not train): start the same"},
		"arguments": {[][]parallel.Trait{of("train", "1", "a"), of("train", "1", "b")}, []string{"rank 1: the command line differs from that of rank 0: the first counts"}, ""},
		"fewer":     {[][]parallel.Trait{of("train", "1", "a"), of("train", "1", "a")[:1]}, nil, "rank 1: the version differs from that of rank 0 (unknown, not 1): copy one binary"},
		"more":      {[][]parallel.Trait{of("train", "1", "a")[:1], of("train", "1", "a")}, nil, ""},
	} {
		all(t, each(len(c.ranks), func(g *parallel.Group) error {
			notes, err := g.Introduce(c.ranks[g.Rank()])
			if text := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && text != c.want {
				return fmt.Errorf("%s: %q, want %q", name, text, c.want)
			}
			var agreed *parallel.RankError
			if c.want != "" && (!errors.As(err, &agreed) || agreed.Rank != 0) {
				return fmt.Errorf("%s: %v is not an error of all ranks", name, err)
			}
			if !reflect.DeepEqual(notes, c.notes) {
				return fmt.Errorf("%s: notes %q, want %q", name, notes, c.notes)
			}
			return nil
		}))
	}
}
