package algorithmic_test

import (
	"slices"
	"strconv"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// Answers are what their alignments say they are made of: the tokens of copy and reverse, and the sums of two digits and a carry, with and without
// an End behind the source.
// Caught when planted: a second number that begins with the plus sign, places off by one in reverse, an End that is aligned with a digit.
func TestAnswersAreMadeOfWhatIsAligned(t *testing.T) {
	for _, d := range []task.Definition{algorithmic.Copy{}, algorithmic.Reverse{}, algorithmic.Addition{}} {
		opened, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		examples, err := opened.HeldOut(5, task.Selection{Mix: 30, Count: 200})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range examples {
			if i%2 == 1 {
				e = task.WithEnds([]task.Example{e})[0]
			}
			var source, target []string
			for _, id := range e.Source {
				source = append(source, opened.Vocabularies().Source.Token(id))
			}
			for _, id := range e.Target {
				target = append(target, opened.Vocabularies().Target.Token(id))
			}
			if got := made(d.(task.Aligned).Align(source, len(target)), source); !slices.Equal(got, target) && !slices.Equal(got, target[:len(target)-1]) {
				t.Fatalf("%s: %v is aligned to give %v, want %v", d, source, got, target)
			}
		}
	}
}

// made is an answer made of its alignments: the tokens themselves of one, the digits of a sum of two.
func made(list []task.Alignment, source []string) (answer []string) {
	carry := 0
	for place := range list[0].Source {
		if len(list) == 1 {
			if at := list[0].Source[place]; at >= 0 {
				answer = append(answer, source[at])
			}
			continue
		}
		some := false
		for _, a := range list {
			if at := a.Source[place]; at >= 0 {
				n, _ := strconv.Atoi(source[at])
				carry, some = carry+n, true
			}
		}
		if some || carry > 0 {
			answer = append(answer, strconv.Itoa(carry%10))
		}
		carry /= 10
	}
	return answer
}
