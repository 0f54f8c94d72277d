package execute

import (
	"math"
	"testing"

	"universal-transformer/task"
)

// An answer depends on a product or a loop unless a conditional chooses another number. Counted by hand. Caught when planted: programs with the
// operation counted as dependent; the choices exchanged.
func TestCensusByHand(t *testing.T) {
	s := Program{Operations: AllOperations, Nesting: 2, Length: 2}.stream()
	var examples []task.Example
	for _, source := range []string{
		"12*34", "(12*34)if20<30else56", "(12*34)if30<20else56", "(12*34)if30>20else56", "(12if20<30else56)*34", "(12*34)*56", "x=(12*34)for[3]x+=56",
		"12+34", "(x=12for[3]x+=34)if30<20else56", "(12-34)if30<20else56",
	} {
		answer, _, err := EvaluateProgram(source)
		if err != nil {
			t.Fatal(err)
		}
		examples = append(examples, s.example(sample{source, answer}))
	}
	for operation, want := range map[string]Census{
		// answers 408, 408, 56, 408, 408, 848 (22,848 modulo 1,000), 576, 46, 56 and 56: 26 digits and 10 ends
		"*": {Programs: 10, With: 7, Dependent: 6, Tokens: 36}, "for": {Programs: 10, With: 2, Dependent: 1, Tokens: 36},
	} {
		if got, err := s.census(examples, operation); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", operation, got, err, want)
		}
	}
}

// Of two operations drawn from five, 9 of 25 pairs have a product; a product is discarded if the second operation is a conditional, one pair of
// those nine, that does not hold, half of the time. Counts are within three standard deviations of these shares.
func TestCensusHasTheSharesOfTheGenerator(t *testing.T) {
	maximum, kind, err := Program{Operations: AllOperations, Nesting: 2, Length: 5}.Census("*", 2000, "nesting 2: *", 1000)
	if err != nil || maximum.Programs != 2000 || kind.Programs != 1000 || kind.With != 1000 {
		t.Fatalf("%+v, %+v, %v", maximum, kind, err)
	}
	for _, c := range []struct {
		of, n int
		share float64
	}{{maximum.With, 2000, 9. / 25}, {maximum.Discarded(), 2000, 1. / 50}, {kind.Discarded(), 1000, 1. / 18}} {
		if deviation := math.Sqrt(c.share * (1 - c.share) * float64(c.n)); math.Abs(float64(c.of)-c.share*float64(c.n)) > 3*deviation {
			t.Errorf("%d of %d, want about %.3f", c.of, c.n, c.share)
		}
	}
	if _, _, err := (Program{Operations: Addition, Nesting: 2, Length: 5}).Census("*", 10, "nesting 2: *", 10); err == nil {
		t.Error("a task without products has a census of them")
	}
}
