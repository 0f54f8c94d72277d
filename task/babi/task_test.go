package babi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/babi"
	"universal-transformer/task/tasktest"
)

func opened(t *testing.T, c babi.Babi) *babi.Task {
	t.Helper()
	if c.Path == "" {
		c.Path = folder(t, small())
	}
	tk, err := babi.OpenTask(c)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func TestConformance(t *testing.T) {
	for _, set := range []string{"en", "en-valid"} {
		t.Run(set, func(t *testing.T) {
			c := babi.Babi{Set: set, Task: 1, Rename: set == "en-valid"}
			tasktest.Run(t, opened(t, c))
			tasktest.Files(t, c, opened(t, c), false)
		})
	}
}

// A source is a row of words a fact, the question last; the target is the answer's class.
// Caught when planted: the question in front, a row too long, the answer's id of the other vocabulary.
func TestExample(t *testing.T) {
	tk := opened(t, babi.Babi{Set: "en", Task: 1})
	if tk.Vocabularies().Positions() != 7 {
		t.Fatalf("%d words a position, want 7: someone went back to the room .", tk.Vocabularies().Positions())
	}
	held, err := tk.HeldOut(1, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range tk.Test() {
		e := held[i]
		var rows []string
		for row := range slices.Chunk(e.Source, tk.Vocabularies().Positions()) {
			rows = append(rows, strings.Join(tk.Vocabularies().Source.Decode(row), " "))
		}
		if want := append(slices.Clone(q.Facts), q.Text); !slices.Equal(rows, want) {
			t.Fatalf("question %d is %q, want %q", i, rows, want)
		}
		if got := tk.Vocabularies().Target.Decode(e.Target); len(got) != 1 || got[0] != q.Answer {
			t.Fatalf("question %d has the answer %q, want %q", i, got, q.Answer)
		}
		if fact := q.Facts[q.Supports[0]]; !strings.HasSuffix(fact, q.Answer+" .") {
			t.Fatalf("question %d, %q: the supporting fact is %q", i, q.Text, fact)
		}
	}
}

// No story is on both sides, nothing is lost, and the division is the same for every seed.
func TestValidationIsDividedByStory(t *testing.T) {
	tk := opened(t, babi.Babi{Set: "en", Task: 1})
	validation := tk.Validation()
	if len(validation) != 50 || tk.TrainedOn() != 450 {
		t.Fatalf("%d and %d questions, want a tenth of 100 stories of 5 questions", len(validation), tk.TrainedOn())
	}
	one, _ := tk.HeldOut(1, task.Selection{Validation: true})
	two, _ := tk.HeldOut(2, task.Selection{Validation: true})
	if !slices.EqualFunc(one, two, func(a, b task.Example) bool { return slices.Equal(a.Source, b.Source) }) {
		t.Error("another seed validates on other questions")
	}
	stories := map[int]int{}
	for _, q := range validation {
		stories[q.Story]++
	}
	for story, n := range stories {
		if n != 5 {
			t.Errorf("%d of the 5 questions of story %d validate", n, story)
		}
	}
}

// Of a long story the last facts are kept, 130 of task 3, 70 of the others, and supports move with them.
func TestLongStoriesAreCut(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 140; i++ {
		fmt.Fprintf(&b, "%d Mary went to room %d.\n", i, i)
	}
	b.WriteString("141 Where is Mary?\tkitchen\t3 140 69 72\n")
	long := b.String() + "1 A b.\n2 C?\td\t1\n"
	for n, want := range map[int]struct {
		facts    int
		supports string
	}{2: {70, "[69 1]"}, 3: {130, "[129 58 61]"}} {
		files := map[string]string{fmt.Sprintf("en/qa%d_train.txt", n): long, fmt.Sprintf("en/qa%d_test.txt", n): long}
		q := opened(t, babi.Babi{Path: folder(t, files), Set: "en", Task: n}).Test()[0]
		if got := fmt.Sprint(q.Supports); len(q.Facts) != want.facts || got != want.supports || q.Facts[want.facts-1] != "mary went to room 140 ." {
			t.Errorf("task %d keeps %d facts, the last %q, supports %s", n, len(q.Facts), q.Facts[len(q.Facts)-1], got)
		}
	}
}

// A stand-in is used where it is named, and shows in the name of the task.
func TestStandIn(t *testing.T) {
	root := folder(t, small())
	if _, err := babi.OpenTask(babi.Babi{Path: root, Set: "en", Task: 3}); err == nil || !strings.Contains(err.Error(), "en/qa3_train.txt is missing") {
		t.Errorf("without: %v", err)
	}
	stand := filepath.Join(root, "qa3_partial.txt")
	if err := os.WriteFile(stand, []byte(moves(9, 30)), 0o600); err != nil {
		t.Fatal(err)
	}
	tk := opened(t, babi.Babi{Path: root, Set: "en", Task: 3, StandIn: stand})
	if tk.TrainedOn() != 135 || !strings.Contains(tk.Name(), "task 3 trained on the stand-in qa3_partial.txt") {
		t.Errorf("%q is trained on %d questions", tk.Name(), tk.TrainedOn())
	}
}

func TestValidate(t *testing.T) {
	for want, c := range map[string]babi.Babi{
		"path is empty":                {Set: "en"},
		`set is "fr"`:                  {Path: "x", Set: "fr"},
		"task is 21":                   {Path: "x", Set: "en", Task: 21},
		"task is -1":                   {Path: "x", Set: "en", Task: -1},
		"must begin with the task":     {Path: "x", Set: "en", StandIn: "a/b.txt"},
		`"qa3_x" is for task 3, but t`: {Path: "x", Set: "en", Task: 2, StandIn: "qa3_x"},
	} {
		if _, err := babi.OpenTask(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// Test words that training never showed are unknown, and a test answer never shown has a class that no training example has.
func TestUnknown(t *testing.T) {
	files := map[string]string{"en/qa1_train.txt": moves(1, 40), "en/qa1_test.txt": "1 Zoe moved out.\n2 Where is Zoe?\tmoon\t1\n"}
	tk := opened(t, babi.Babi{Path: folder(t, files), Set: "en", Task: 1})
	q := tk.Test()[0]
	words, long := tk.Coding().Unknown(q)
	if got := strings.Join(words, " "); got != "zoe moved out zoe" || long {
		t.Errorf("unknown words are %q, long %v", got, long)
	}
	e := tk.Coding().Example(q)
	if unknown, _ := tk.Vocabularies().Target.Unknown(); e.Target[0] != unknown {
		t.Errorf("the target is %d, want %d", e.Target[0], unknown)
	}
	for i := range int64(180) {
		if tk.Training(1, i).Target[0] == e.Target[0] {
			t.Fatal("a training example has the class of unknown answers")
		}
	}
}

// A long sentence in a story to evaluate on is an error, and unknown words are noted, unless it is so old that it is dropped.
// Caught when planted: facts counted before the oldest are dropped.
func TestFileOfLongStories(t *testing.T) {
	c := babi.Babi{Path: folder(t, small()), Set: "en", Task: 1}
	r := c.Reader(opened(t, c).Vocabularies())
	story := func(first string, facts int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "1 %s.\n", first)
		for i := range facts {
			fmt.Fprintf(&b, "%d Mary went back to the kitchen.\n", i+2)
		}
		fmt.Fprintf(&b, "%d Where is Mary?\tkitchen\t%d\n", facts+2, facts+1)
		path := filepath.Join(t.TempDir(), "stories.txt")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("Mary went ", 100) + "back"
	if _, _, err := r.File(story(long, 69)); err == nil || !strings.Contains(err.Error(), "stories.txt:71: a sentence has more than") {
		t.Errorf("a long sentence among 70: %v", err)
	}
	if examples, notes, err := r.File(story(long, 70)); err != nil || len(examples) != 1 || len(notes) > 0 {
		t.Errorf("a long sentence before 70: %d questions, %q, %v", len(examples), notes, err)
	}
	if _, notes, err := r.File(story("Zoe vanished", 69)); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 of 1 questions have words") {
		t.Errorf("an unknown word among 70 sentences: %q, %v", notes, err)
	}
	if _, notes, err := r.File(story("Zoe vanished", 70)); err != nil || len(notes) > 0 {
		t.Errorf("an unknown word before 70 sentences: %q, %v", notes, err)
	}
}
