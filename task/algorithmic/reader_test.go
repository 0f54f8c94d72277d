package algorithmic_test

import (
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// The reader knows the correct answer of every source that the task could draw, and of no other.
func TestReaderAnswers(t *testing.T) {
	for _, test := range []struct {
		task         task.Definition
		source, want string
	}{
		{algorithmic.Reverse{}, "31415", "51413"},
		{algorithmic.Copy{}, "0072", "0072"},
		{algorithmic.Addition{}, "99+41", "311"}, // 99 + 14 = 113, from the last digit
		{algorithmic.Addition{Digits: algorithmic.Digits{Base: 2}}, "1+1", "01"},
		{algorithmic.Addition{}, "99", ""},
		{algorithmic.Addition{}, "1+2+3", ""},
		{algorithmic.Addition{}, "+2", ""},
		{algorithmic.Addition{}, "2+", ""},
	} {
		opened, err := test.task.Open()
		if err != nil {
			t.Fatal(err)
		}
		v := opened.Vocabularies()
		in, err := test.task.Reader(v).Read(test.source)
		if got := strings.Join(v.Target.Decode(in.Answer), ""); err != nil || got != test.want {
			t.Errorf("%v: the answer to %s is %q, want %q (%v)", test.task, test.source, got, test.want, err)
		}
	}
}
