package babi

import "fmt"

// A Finding is what Check found about one file.
type Finding struct {
	Set, Part string
	Task      int
	Questions int   // number of questions read
	Expected  int   // number of questions according to the distribution's README; in the divided sets, which are split by story, the minimum
	Err       error // why the file cannot be used; nil if it can
}

func (f Finding) String() string {
	name := file{f.Set, f.Task, f.Part}
	switch {
	case f.Err != nil:
		return f.Err.Error()
	case f.Questions < f.Expected:
		return fmt.Sprintf("%s has %d questions, fewer than the expected %d", name, f.Questions, f.Expected)
	}
	return fmt.Sprintf("%s has %d questions", name, f.Questions)
}

// Bad reports whether the file is missing, damaged or incomplete.
func (f Finding) Bad() bool { return f.Err != nil || f.Questions < f.Expected }

// parts lists the files of a set, with the smallest number of questions of each.
func parts(set string) map[string]int {
	switch set {
	case "en":
		return map[string]int{"train": 1000, "test": 1000}
	case "en-10k":
		return map[string]int{"train": 10000, "test": 1000}
	case "en-valid":
		return map[string]int{"train": 895, "valid": 95, "test": 1000}
	}
	return map[string]int{"train": 8990, "valid": 990, "test": 1000}
}

// Check reads every file that the distribution should contain.
func (d *Distribution) Check() (found []Finding) {
	for _, set := range Sets {
		for task := 1; task <= Tasks; task++ {
			for _, part := range []string{"train", "valid", "test"} {
				least, has := parts(set)[part]
				if !has {
					continue
				}
				questions, err := d.Questions(set, task, part)
				found = append(found, Finding{Set: set, Part: part, Task: task, Questions: len(questions), Expected: least, Err: err})
			}
		}
	}
	return found
}
