package babi_test

import (
	"fmt"
	"strings"
	"testing"

	"universal-transformer/task/babi"
)

// An epoch visits each training question once, those of task 16 four times and those of task 2 twice: 45 questions of each of twenty tasks, so
// 18 x 45 + 2 x 45 + 4 x 45 visits. Each question has an answer of its own. Held-out questions and digests stay as they are.
// Caught when planted: the indices of the first task for all; visits of the neighbouring task; an epoch as long as the questions.
func TestVisits(t *testing.T) {
	place := func(n, i int) string { // a word of letters that begins with the task's, without a number if i is negative
		name := "place" + string(rune('a'+n-1))
		if i >= 0 {
			name += string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})
		}
		return name
	}
	files := map[string]string{}
	for n := 1; n <= babi.Tasks; n++ {
		var train strings.Builder
		for i := range 50 {
			fmt.Fprintf(&train, "1 Mary went to %[1]s.\n2 Where is Mary?\t%[1]s\t1\n", place(n, i))
		}
		files[fmt.Sprintf("en/qa%d_train.txt", n)] = train.String()
		files[fmt.Sprintf("en/qa%d_test.txt", n)] = fmt.Sprintf("1 Mary went to %[1]s.\n2 Where is Mary?\t%[1]s\t1\n", place(n, 7))
	}
	c := babi.Babi{Path: folder(t, files), Set: "en"}
	plain := opened(t, c)
	c.Visits = map[int]int{16: 4, 2: 2, 5: 1}
	tk := opened(t, c)
	if tk.Name() != "bAbI en joint, task 2 visited 2 times an epoch, task 16 visited 4 times an epoch" {
		t.Errorf("it is named %q", tk.Name())
	}
	if tk.TrainedOn() != 900 || tk.Digests() != plain.Digests() {
		t.Errorf("%d training questions, digests %v and %v", tk.TrainedOn(), tk.Digests(), plain.Digests())
	}
	const epoch = (18 + 2 + 4) * 45
	for round := range int64(2) {
		visits := map[string]int{}
		for i := range int64(epoch) {
			visits[tk.Vocabularies().Target.Decode(tk.Training(5, round*epoch+i).Target)[0]]++
		}
		if len(visits) != 900 {
			t.Fatalf("epoch %d visits %d of 900 questions", round, len(visits))
		}
		for answer, n := range visits {
			want := 1
			switch {
			case strings.HasPrefix(answer, place(16, -1)):
				want = 4
			case strings.HasPrefix(answer, place(2, -1)):
				want = 2
			}
			if n != want {
				t.Errorf("epoch %d visits the question with the answer %s %d times, want %d", round, answer, n, want)
			}
		}
	}
}

func TestValidateVisits(t *testing.T) {
	for want, c := range map[string]babi.Babi{
		"visits has task 21: it must be 1 to 20":         {Path: "x", Set: "en", Visits: map[int]int{21: 2}},
		"visits of task 3 is 0: it must be 1 to 100":     {Path: "x", Set: "en", Visits: map[int]int{3: 0, 4: 1}},
		"visits of task 3 is 101: it must be 1 to 100":   {Path: "x", Set: "en", Visits: map[int]int{3: 101}},
		"visits are for all tasks in one model, but the": {Path: "x", Set: "en", Task: 3, Visits: map[int]int{3: 2}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}
