package babi_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/babi"
)

// A told is a story in the format of the distribution whose questions solve answers from the words of its facts.
type told struct {
	task  int
	story string
	solve func(facts [][]string, question []string) string
}

// where returns the last word but one of the last fact that names the person asked about, or that follows such a fact and begins with a
// pronoun's clause.
func where(facts [][]string, question []string) (place string) {
	for i, f := range facts {
		follows := i > 0 && (slices.Contains(f, "he") || slices.Contains(f, "she")) && slices.Contains(facts[i-1], question[2])
		if slices.Contains(f, question[2]) || follows {
			place = f[len(f)-2]
		}
	}
	return place
}

// carried lists what a person has taken and not dropped, in the order of taking.
func carried(facts [][]string, question []string) string {
	var has []string
	for _, f := range facts {
		switch thing := f[len(f)-2]; {
		case f[0] == question[2] && f[1] == "took":
			has = append(has, thing)
		case f[0] == question[2] && f[1] == "dropped":
			has = slices.DeleteFunc(has, func(h string) bool { return h == thing })
		}
	}
	if len(has) == 0 {
		return "nothing"
	}
	return strings.Join(has, ",")
}

func giver(facts [][]string, question []string) (who string) {
	for _, f := range facts {
		if f[1] == "gave" && f[3] == question[3] {
			who = strings.ToUpper(f[0][:1]) + f[0][1:]
		}
	}
	return who
}

// afraid finds the kind of the animal, and whom the plural of that kind is afraid of.
func afraid(facts [][]string, question []string) string {
	plural := map[string]string{"mouse": "mice", "wolf": "wolves", "cat": "cats"}
	for _, is := range facts {
		for _, f := range facts {
			if is[0] == question[2] && len(is) == 5 && f[0] == plural[is[3]] {
				for one, many := range plural {
					if many == f[4] {
						return one
					}
				}
			}
		}
	}
	return ""
}

// induced finds another animal of the same kind and its colour.
func induced(facts [][]string, question []string) string {
	kind, colour := map[string]string{}, map[string]string{}
	for _, f := range facts {
		if len(f) == 5 {
			kind[f[0]] = f[3]
		} else {
			colour[f[0]] = f[2]
		}
	}
	for who, k := range kind {
		if who != question[3] && k == kind[question[3]] {
			return colour[who]
		}
	}
	return ""
}

// right tells whether the first object of the question is to the right of the second, by adding up relations of whole phrases.
func right(facts [][]string, question []string) string {
	x := map[string]int{}
	for _, f := range facts {
		a, b, _ := strings.Cut(strings.TrimSuffix(strings.Join(f, " "), " ."), " is to the left of ")
		if _, known := x[a]; known {
			x[b] = x[a] + 1
		} else {
			at := x[b] // 0 for the first fact
			x[a], x[b] = at-1, at
		}
	}
	a, b, _ := strings.Cut(strings.TrimSuffix(strings.Join(question[1:], " "), " ?"), " to the right of ")
	if _, ok := x[a]; !ok || a == b {
		return "unknown object " + a
	}
	return map[bool]string{true: "yes", false: "no"}[x[a] > x[b]]
}

// fits follows the chain of "fits inside" from the first object of the question.
func fits(facts [][]string, question []string) string {
	inside, objects := map[string]string{}, map[string]bool{}
	for _, f := range facts {
		a, b, _ := strings.Cut(strings.TrimSuffix(strings.Join(f, " "), " ."), " fits inside ")
		inside[a], objects[a], objects[b] = b, true, true
	}
	if have := strings.Join(slices.Sorted(maps.Keys(objects)), ", "); have != "the box, the box of chocolates, the chest, the chocolate, the container" {
		return "other objects: " + have
	}
	a, b, _ := strings.Cut(strings.TrimSuffix(strings.Join(question[1:], " "), " ?"), " fit in ")
	for at := a; at != ""; at = inside[at] {
		if at == b {
			return "yes"
		}
	}
	return "no"
}

// path returns the two directions from one place to another.
func path(facts [][]string, question []string) string {
	step := map[[2]string]string{}
	opposite := map[string]string{"north": "s", "south": "n", "east": "w", "west": "e"}
	for _, f := range facts { // the A is DIRECTION of the B .
		a, b := f[1], f[6]
		step[[2]string{b, a}], step[[2]string{a, b}] = f[3][:1], opposite[f[3]]
	}
	from, to := question[6], question[9]
	for way, first := range step {
		if second, ok := step[[2]string{way[1], to}]; ok && way[0] == from {
			return first + "," + second
		}
	}
	return ""
}

// motive answers what somebody who is tired or hungry does.
func motive(facts [][]string, question []string) string {
	for _, f := range facts {
		if f[0] == question[2] && len(f) == 4 {
			return map[string]string{"tired": "bedroom", "hungry": "kitchen"}[f[2]]
		}
	}
	return ""
}

var stories = []told{
	{1, "1 Mary went to the kitchen.\n2 John went to the office.\n3 Daniel went to the garden.\n4 Mary went to the hallway.\n5 Where is Mary?\thallway\t4\n6 Where is John?\toffice\t2\n", where},
	{5, "1 Fred gave the milk to Jeff.\n2 Bill gave the apple to Mary.\n3 Jeff gave the football to Bill.\n4 Who gave the apple?\tBill\t2\n5 Who gave the milk?\tFred\t1\n", giver},
	{8, "1 Mary took the milk.\n2 Sandra took the football.\n3 Mary took the apple.\n4 What is Mary carrying?\tmilk,apple\t1 3\n5 Sandra dropped the football.\n6 What is Sandra carrying?\tnothing\t2 5\n", carried},
	{11, "1 Mary went to the kitchen.\n2 Then she went to the office.\n3 John went to the garden.\n4 Then he went to the hallway.\n5 Where is Mary?\toffice\t1 2\n6 Sandra went to the office.\n7 Daniel went to the office.\n8 Where is John?\thallway\t3 4\n", where},
	{15, "1 Mice are afraid of wolves.\n2 Gertrude is a mouse.\n3 Wolves are afraid of cats.\n4 Emily is a wolf.\n5 Winona is a wolf.\n6 What is gertrude afraid of?\twolf\t1 2\n7 What is emily afraid of?\tcat\t3 4\n", afraid},
	{16, "1 Lily is a swan.\n2 Brian is a frog.\n3 Lily is white.\n4 Brian is green.\n5 Greg is a frog.\n6 Julius is a swan.\n7 What color is Greg?\tgreen\t2 4 5\n8 What color is Julius?\twhite\t1 3 6\n", induced},
	{17, "1 The blue square is to the left of the triangle.\n2 The triangle is to the left of the pink rectangle.\n3 Is the pink rectangle to the right of the triangle?\tyes\t2\n" +
		"4 Is the blue square to the right of the triangle?\tno\t1\n", right},
	{18, "1 The chocolate fits inside the box.\n2 The box of chocolates fits inside the chest.\n3 The box fits inside the box of chocolates.\n4 The chest fits inside the container.\n" +
		"5 Does the chocolate fit in the chest?\tyes\t1 2 3\n6 Does the box of chocolates fit in the box?\tno\t3\n", fits},
	{19, "1 The office is east of the hallway.\n2 The kitchen is north of the office.\n3 The garden is west of the bedroom.\n4 The office is west of the garden.\n5 How do you go from the kitchen to the garden?\ts,e\t2 4\n6 How do you go from the hallway to the garden?\te,e\t1 4\n", path},
	{20, "1 Sumit is tired.\n2 Jason is hungry.\n3 Where will sumit go?\tbedroom\t1\n4 Jason went to the kitchen.\n5 Yann is hungry.\n6 Where will yann go?\tkitchen\t5\n", motive},
}

// twice opens a distribution of one task: the story for training and for validation, and test stories.
func twice(t *testing.T, c babi.Babi, story, test string) *babi.Task {
	t.Helper()
	c.Set, c.Path = "en", folder(t, map[string]string{
		fmt.Sprintf("en/qa%d_train.txt", c.Task): story + story, fmt.Sprintf("en/qa%d_test.txt", c.Task): test,
	})
	return opened(t, c)
}

func renamed(t *testing.T, number int, story, test string, rename bool) *babi.Task {
	t.Helper()
	return twice(t, babi.Babi{Task: number, Rename: rename}, story, test)
}

// sentences returns the words of the facts and of the question of a source.
func sentences(t *testing.T, tk *babi.Task, e task.Example) (facts [][]string, question []string) {
	t.Helper()
	v := tk.Vocabularies()
	for row := range slices.Chunk(e.Source, v.Positions()) {
		words := v.Source.Decode(row)
		if slices.Contains(words, "<unknown>") {
			t.Fatalf("a word of %q is not in the vocabulary", words)
		}
		facts = append(facts, words)
	}
	return facts[:len(facts)-1], facts[len(facts)-1]
}

// A program for each kind of story answers the renamed questions. Caught when planted: the answer not renamed; "box" replaced in "box of
// chocolates"; sentences cut at the length of the longest one in training; places of task 20 exchanged; names drawn for each
// sentence; capitals of answers lost.
func TestRenamedStoriesHaveTheirAnswers(t *testing.T) {
	for _, s := range stories {
		tk, differ := renamed(t, s.task, s.story, s.story, true), map[string]bool{}
		for i := range int64(300) {
			e := tk.Training(1, i)
			facts, question := sentences(t, tk, e)
			answer := tk.Vocabularies().Target.Decode(e.Target)[0]
			for _, words := range append(facts, question) {
				if mark := words[len(words)-1]; mark != "." && mark != "?" {
					t.Fatalf("task %d: %q is cut off", s.task, words)
				}
			}
			if want := s.solve(facts, question); answer != want {
				t.Fatalf("task %d: the answer of %q, %q is %q, want %q", s.task, facts, question, answer, want)
			}
			differ[fmt.Sprint(facts)] = true
		}
		if len(differ) < 6 {
			t.Errorf("task %d: %d different stories", s.task, len(differ))
		}
	}
}

// Words are exchanged one-to-one within their class, the same way in all sentences and the answer; no other word changes. The orders of four
// people all occur in 3,000 visits but for a chance of 24 (23/24)^3000 < 1e-53.
// Caught when planted: people drawn with repetition; "mary" never exchanged; men and women of task 11 in one class; verbs exchanged.
func TestRenamingIsOneToOne(t *testing.T) {
	all := strings.Fields("mary john daniel sandra")
	for number, classes := range map[int][][]string{
		1:  {all, strings.Fields("kitchen office garden hallway")},
		11: {strings.Fields("john daniel"), strings.Fields("mary sandra"), strings.Fields("kitchen office garden hallway")},
	} {
		story := "1 Mary went to the kitchen.\n2 John went to the office.\n3 Daniel went to the garden.\n4 Sandra went to the hallway.\n5 Where is John?\toffice\t2\n"
		plain, other := renamed(t, number, story, story, false), renamed(t, number, story, story, true)
		orders := map[string]bool{}
		for i := range int64(3000) {
			before, asked := sentences(t, plain, plain.Training(1, i))
			after, asks := sentences(t, other, other.Training(1, i))
			to := map[string]string{}
			for at, fact := range append(before, asked) {
				for k, word := range fact {
					now := append(after, asks)[at][k]
					if was, ok := to[word]; ok && was != now {
						t.Fatalf("task %d: %q becomes %q and %q", number, word, was, now)
					}
					to[word] = now
					class := slices.IndexFunc(classes, func(c []string) bool { return slices.Contains(c, word) })
					if class < 0 && word != now || class >= 0 && !slices.Contains(classes[class], now) {
						t.Fatalf("task %d: %q becomes %q", number, word, now)
					}
				}
			}
			back := map[string]string{}
			for from, into := range to {
				back[into] = from
			}
			if len(back) != len(to) {
				t.Fatalf("task %d: two words become one: %v", number, to)
			}
			var order []string
			for _, name := range all {
				order = append(order, to[name])
			}
			orders[strings.Join(order, " ")] = true
		}
		if want := map[int]int{1: 24, 11: 4}[number]; len(orders) != want {
			t.Errorf("task %d: %d orders of the people, want %d", number, len(orders), want)
		}
	}
}

// Held-out questions, their digests and the words of sources are those without renaming, and names that only the test has take no part. A visit is
// renamed the same way each time it is asked for, and another one in another way. Caught when planted: names found in the test, validation renamed,
// a stream that does not depend on the visit.
func TestRenamingTouchesTrainingOnly(t *testing.T) {
	test := strings.NewReplacer("Mary", "Julie", "hallway", "cinema").Replace(stories[0].story)
	plain, other := renamed(t, 1, stories[0].story, test, false), renamed(t, 1, stories[0].story, test, true)
	if !plain.Vocabularies().Source.Equal(other.Vocabularies().Source) || plain.Digests() != other.Digests() {
		t.Error("the words or the digests differ")
	}
	for _, validation := range []bool{true, false} {
		want, _ := plain.HeldOut(1, task.Selection{Validation: validation})
		have, _ := other.HeldOut(1, task.Selection{Validation: validation})
		if len(want) == 0 || !slices.EqualFunc(want, have, func(a, b task.Example) bool { return slices.Equal(a.Source, b.Source) }) {
			t.Errorf("held-out questions differ, validation %v", validation)
		}
	}
	seen := map[string]int{}
	for i := range int64(40) {
		e, again := other.Training(5, i), other.Training(5, i)
		if !slices.Equal(e.Source, again.Source) || !slices.Equal(e.Target, again.Target) {
			t.Fatalf("visit %d differs from itself", i)
		}
		seen[fmt.Sprint(e.Source)]++
		if slices.Equal(e.Source, other.Training(6, i).Source) {
			seen["another seed"]++
		}
	}
	if len(seen) < 20 || seen["another seed"] > 10 {
		t.Errorf("%d different visits of 40; %d are the same with another seed", len(seen), seen["another seed"])
	}
}

// A visit is renamed with the probability of the share: 1,400 of 4,000 visits with a share of 0.35, give or take four deviations of 30. Visits that
// are renamed are renamed as with a share of 1. An exchange that changes nothing, one of 576, counts as none.
// Caught when planted: the visits of the share left alone; the share without effect; names of another visit.
func TestShareOfRenaming(t *testing.T) {
	story := "1 Mary went to the kitchen.\n2 John went to the office.\n3 Daniel went to the garden.\n4 Sandra went to the hallway.\n5 Where is John?\toffice\t2\n"
	open := func(share float64) *babi.Task {
		return twice(t, babi.Babi{Task: 1, Rename: share > 0, RenameShare: share}, story, story)
	}
	plain, always, some := open(0), open(1), open(0.35)
	untouched, renamed := 0, 0
	for i := range int64(4000) {
		switch have := some.Training(3, i).Source; {
		case slices.Equal(have, plain.Training(3, i).Source):
			untouched++
		case slices.Equal(have, always.Training(3, i).Source):
			renamed++
		default:
			t.Fatalf("visit %d is neither the question nor its renamed form", i)
		}
	}
	if renamed < 1400-120 || renamed > 1400+120 {
		t.Errorf("%d of 4,000 visits are renamed, %d are not", renamed, untouched)
	}
	for _, c := range []struct {
		babi babi.Babi
		want string
	}{
		{babi.Babi{Path: "x", Set: "en", Rename: true, RenameShare: -0.1}, "rename_share is -0.1: it must be from 0 to 1"},
		{babi.Babi{Path: "x", Set: "en", Rename: true, RenameShare: math.NaN()}, "rename_share is NaN"},
		{babi.Babi{Path: "x", Set: "en", Rename: true, RenameShare: 1.01}, "rename_share is 1.01"},
		{babi.Babi{Path: "x", Set: "en", RenameShare: 0.5}, "but rename is false: set task.babi.rename=true"},
	} {
		if err := c.babi.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.babi, err, c.want)
		}
	}
}

// The classes of answers are closed: every ordered list of two things, one of which occurs in training, and the people with a capital.
func TestAnswersOfRenamedStories(t *testing.T) {
	for number, want := range map[int]string{
		8: "apple,football apple,milk football,apple football,milk milk,apple milk,football nothing", 5: "Bill Fred Jeff Mary", 19: "e,e s,e", 20: "bedroom kitchen",
	} {
		story := stories[slices.IndexFunc(stories, func(s told) bool { return s.task == number })].story
		v, answers := renamed(t, number, story, story, true).Vocabularies().Target, map[string]bool{}
		for _, word := range v.Tokens() {
			if !strings.HasPrefix(word, "<") {
				answers[word] = true
			}
		}
		if have := strings.Join(slices.Sorted(maps.Keys(answers)), " "); have != want {
			t.Errorf("task %d has the answers %q, want %q", number, have, want)
		}
	}
}

// Rewording keeps the sense of facts, their order, the question and the answer. Each occurrence of a verb is drawn by itself from those of
// the training stories. The direction "left" stays. Caught when planted: the question reworded; "took" among the verbs of dropping; one
// draw for all occurrences in a story; "left" dropped in task 17.
func TestRewording(t *testing.T) {
	sense := strings.NewReplacer("went back", "MOVE", "went", "MOVE", "journeyed", "MOVE", "picked up", "TAKE", "took", "TAKE", "put down", "DROP", "left", "DROP",
		"after that", "THEN", "afterwards", "THEN")
	stories := map[int]string{
		2: "1 Mary went back to the office.\n2 Mary picked up the milk.\n3 Mary journeyed to the garden.\n4 After that she left the milk.\n5 Mary took the apple there.\n" +
			"6 Afterwards she went to the hallway.\n7 Mary put down the apple.\n8 What was left there?\tapple\t7\n",
		17: "1 The triangle is to the left of the blue square.\n2 Is the triangle to the left of the blue square?\tyes\t1\n",
	}
	for number, story := range stories {
		plain, other := twice(t, babi.Babi{Task: number}, story, story), twice(t, babi.Babi{Task: number, Reword: true}, story, story)
		lines, drawn := map[string]bool{}, map[string]bool{}
		for i := range int64(400) {
			before, asked := sentences(t, plain, plain.Training(1, i))
			e := other.Training(1, i)
			after, asks := sentences(t, other, e)
			if !slices.Equal(asked, asks) || other.Vocabularies().Target.Decode(e.Target)[0] != plain.Vocabularies().Target.Decode(plain.Training(1, i).Target)[0] {
				t.Fatalf("task %d: the question is %q, want %q", number, asks, asked)
			}
			for at, fact := range after {
				if have, want := strings.Join(fact, " "), strings.Join(before[at], " "); sense.Replace(have) != sense.Replace(want) {
					t.Fatalf("task %d: %q becomes %q", number, want, have)
				}
				lines[strings.Join(fact, " ")] = true
			}
			drawn[fmt.Sprint(after)] = true
		}
		// Each fact of task 2 in all of its forms, 3+2+3+2*2+2+2*3+2; drawn apart, they make 1,728 stories, of which 400 draws hold some 360.
		if want := map[int]int{2: 22, 17: 1}[number]; len(lines) != want {
			t.Errorf("task %d: %d forms of facts, want %d", number, len(lines), want)
		}
		if number == 2 && (len(drawn) < 250 || len(drawn) > 390) {
			t.Errorf("%d different stories", len(drawn))
		}
	}
}
