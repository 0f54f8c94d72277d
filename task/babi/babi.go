// Package babi contains the twenty bAbI tasks (Weston et al., "Towards AI-Complete Question Answering", 2015), section 3.1 of the paper:
// a story of short facts, and a question that is answered by one or more of the facts.
//
//	Mary moved to the bathroom.
//	John went to the hallway.
//	Where is Mary?   bathroom, by the first fact
//
// A position of the source is a fact, not a word: Source holds [Task.TokensPerPosition] ids per fact, with padding after the words of
// shorter facts, and ends with the question. Target is one class, the answer; a list ("n,w") is also a single answer. Models for this
// task set universal.Config.TokensPerPosition to the same number, and add up the embeddings of a position's words.
//
// Of a long story only the last 70 facts are kept, in task 3 the last 130, as in the authors' code. Words are lower-cased; the
// punctuation mark that ends a sentence is a word. [Question] records the line numbers of the facts, and which facts support the answer.
package babi

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/task"
)

// longestStories is the task with the longest stories.
const longestStories = 3

// maxFacts returns how many facts of a story are kept, counted from its end.
func maxFacts(task int) int {
	if task == longestStories {
		return 130
	}
	return 70
}

// Babi specifies the questions. Only Path and Set are required.
type Babi struct {
	Path string `json:"path" file:"any"` // the official distribution: the folder tasks_1-20_v1-2, or its archive
	Set  string `json:"set"`             // "en" (1,000 training questions), "en-10k", "en-valid" or "en-valid-10k"
	Task int    `json:"task"`            // 1 to 20; 0 means all twenty in one model
	// StandIn is a file qaN_... that replaces the training file of task N, which may then be missing. Results mention it.
	StandIn string `json:"stand_in,omitempty" file:"name"`
	// Rename exchanges the names of people, places and objects in training stories and their answers, at each visit of a question anew:
	// mary becomes john, and john mary. Validation and test questions stay as they are.
	Rename bool `json:"rename,omitempty"`
	// RenameShare is the share of the visits that Rename applies to; 0 means all of them. The other visits show the questions as they are.
	// With a share of 0.5 task 16 is learned, with 1 it is not (docs/log.md).
	RenameShare float64 `json:"rename_share,omitempty"`
	// Reword replaces verbs and conjunctions of training facts by ones that mean the same, such as went by journeyed, at each visit of a
	// question anew.
	Reword bool `json:"reword,omitempty"`
	// Visits tells how often an epoch visits each training question of a task, once for tasks that are not listed. {"16": 4} lets a joint model
	// see task 16 four times as often.
	Visits map[int]int `json:"visits,omitempty"`
}

// Validate returns an error that names the first missing or invalid field.
func (c Babi) Validate() error {
	switch {
	case c.Path == "":
		return missing("path is empty: name the folder tasks_1-20_v1-2 or its archive")
	case !slices.Contains(Sets, c.Set):
		return fmt.Errorf("set is %q: it must be one of %s", c.Set, strings.Join(Sets, ", "))
	case c.Task < 0 || c.Task > Tasks:
		return fmt.Errorf("task is %d: it must be 1 to %d, or 0 for all", c.Task, Tasks)
	case !(c.RenameShare >= 0 && c.RenameShare <= 1):
		return fmt.Errorf("rename_share is %v: it must be from 0 to 1; 0 means all visits", c.RenameShare)
	case c.RenameShare > 0 && !c.Rename:
		return fmt.Errorf("rename_share is %v, but rename is false: set task.babi.rename=true, or leave the share out", c.RenameShare)
	}
	if err := c.validateVisits(); err != nil || c.StandIn == "" {
		return err
	}
	switch n := c.standsFor(); {
	case n == 0:
		return fmt.Errorf("stand_in is %q: the name of the file must begin with the task whose training file it replaces, as in qa3_partial.txt", c.StandIn)
	case c.Task != 0 && c.Task != n:
		return fmt.Errorf("stand_in %q is for task %d, but the task is %d", c.StandIn, n, c.Task)
	}
	return nil
}

// maxVisits limits the order of an epoch in memory.
const maxVisits = 100

func (c Babi) validateVisits() error {
	for _, n := range slices.Sorted(maps.Keys(c.Visits)) {
		switch visits := c.Visits[n]; {
		case c.Task != 0:
			return fmt.Errorf("visits are for all tasks in one model, but the task is %d: leave visits out, or set task.babi.task=0", c.Task)
		case n < 1 || n > Tasks:
			return fmt.Errorf("visits has task %d: it must be 1 to %d", n, Tasks)
		case visits < 1 || visits > maxVisits:
			return fmt.Errorf("visits of task %d is %d: it must be 1 to %d", n, visits, maxVisits)
		}
	}
	return nil
}

var standInName = regexp.MustCompile(`^qa(\d{1,2})_`)

// standsFor returns the task whose training file is replaced, or 0.
func (c Babi) standsFor() int {
	m := standInName.FindStringSubmatch(filepath.Base(c.StandIn))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	if n > Tasks {
		return 0
	}
	return n
}

// tasks lists the tasks that are read.
func (c Babi) tasks() []int {
	if c.Task != 0 {
		return []int{c.Task}
	}
	all := make([]int, Tasks)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// Kind returns task.Classification.
func (Babi) Kind() task.Kind { return task.Classification }

// Open reads the questions.
func (c Babi) Open() (task.Task, error) {
	t, err := OpenTask(c)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Measure returns the accuracy of answers.
func (Babi) Measure(v task.Vocabularies) task.Measure {
	unknown, _ := v.Target.Unknown()
	return task.ClassAccuracy{Unknown: unknown}
}

// Reader reads stories that end in a question. It keeps as many facts as in training.
func (c Babi) Reader(v task.Vocabularies) task.Reader { return reader{coding: Coding(v), task: c.Task} }

// String returns "bAbI en-10k task 2" or "bAbI en joint", and mentions a stand-in file and renaming.
func (c Babi) String() string {
	what := "joint"
	if c.Task != 0 {
		what = fmt.Sprintf("task %d", c.Task)
	}
	if c.StandIn != "" {
		what += fmt.Sprintf(", task %d trained on the stand-in %s", c.standsFor(), filepath.Base(c.StandIn))
	}
	if c.Rename {
		what += ", names exchanged in training"
		if c.RenameShare > 0 {
			what += fmt.Sprintf(" at %g of the visits", c.RenameShare)
		}
	}
	if c.Reword {
		what += ", synonyms exchanged in training"
	}
	for _, n := range slices.Sorted(maps.Keys(c.Visits)) {
		if c.Visits[n] > 1 {
			what += fmt.Sprintf(", task %d visited %d times an epoch", n, c.Visits[n])
		}
	}
	return fmt.Sprintf("bAbI %s %s", c.Set, what)
}
