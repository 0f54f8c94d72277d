package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// babiTask holds the results of all seeds of one model on one task.
type babiTask struct {
	task             int
	seeds            []float64 // test errors in percent, by seed
	best             float64   // test error of the seed with the lowest validation error, and of equals the lowest cross entropy, or if that is not recorded the first
	equals           []float64 // test errors of all seeds with the lowest validation error
	standIn          string    // "" if the task was trained on its own file
	standInQuestions int
	ponder           map[int]measure.PonderTimes // of the best seed, by supporting facts
	ponders          []babiPonder                // of all seeds with dynamic halting
	attention        []measure.AttentionShare    // of the best seed
	header           sweep.Header                // of the best seed
	lowest           float64                     // validation error of the best seed
}

// babiTasks returns a row's tasks that have a result, in order.
func (b book) babiTasks(t paper.Table, r paper.Row) (list []babiTask) {
	byTask := make([]*babiTask, len(paper.BabiTasks)+1)
	for _, run := range b.row(t, r) {
		m := run.measured.(*measure.Babi)
		for _, test := range m.Tests {
			s := byTask[test.Task]
			if s == nil {
				s = &babiTask{task: test.Task, lowest: math.Inf(1)}
				byTask[test.Task] = s
			}
			s.seeds = append(s.seeds, test.Percent())
			if len(test.PonderTimes) > 0 {
				s.ponders = append(s.ponders, babiPonder{run.Seed, byFacts(test.PonderTimes)})
			}
			if m.StandIn != "" && standsFor(m.StandIn) == test.Task {
				s.standIn, s.standInQuestions = m.StandIn, m.StandInQuestions
			}
			v := m.Validation.Percent()
			if v < s.lowest {
				s.equals = nil
			}
			if v <= s.lowest {
				s.equals = append(s.equals, test.Percent())
			}
			if v < s.lowest || v == s.lowest && run.Validation > 0 && run.Validation < s.header.Validation {
				s.lowest = v
				s.choose(run.Header, test)
			}
		}
	}
	for _, s := range byTask {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// choose records a seed as the best.
func (s *babiTask) choose(h sweep.Header, t measure.BabiTest) {
	s.best, s.header, s.attention, s.ponder = t.Percent(), h, t.Attention, byFacts(t.PonderTimes)
}

// babiPonder holds the ponder times of a seed, by supporting facts.
type babiPonder struct {
	seed uint64
	by   map[int]measure.PonderTimes
}

func byFacts(list []measure.PonderTimes) map[int]measure.PonderTimes {
	by := map[int]measure.PonderTimes{}
	for _, p := range list {
		by[p.SupportingFacts] = p
	}
	return by
}

// allSeeds returns the sums of the ponder times over all seeds, by supporting facts.
func (s babiTask) allSeeds() map[int]measure.PonderTimes {
	sum := map[int]measure.PonderTimes{}
	for _, p := range s.ponders {
		for facts, times := range p.by {
			sum[facts] = sum[facts].Plus(times)
		}
	}
	return sum
}

// allFacts returns the sum of ponder times over all numbers of supporting facts.
func allFacts(by map[int]measure.PonderTimes) (sum measure.PonderTimes) {
	for _, p := range by {
		sum = sum.Plus(p)
	}
	return sum
}

// standsFor returns the task of a file named qaN_...
func standsFor(file string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(file, "qa"), "_")
	n, _ := strconv.Atoi(number)
	return n
}

// standInSize describes the stand-in that a task was trained on by its size: "from 1,925 questions", "from 10,000 simulated questions".
func (s babiTask) standInSize() string {
	kind := "question"
	if strings.Contains(s.standIn, "simulated") {
		kind = "simulated question"
	}
	return "from " + count(s.standInQuestions, kind)
}

// ownFiles returns the tasks that were trained on their own files, not on a stand-in.
func ownFiles(list []babiTask) []babiTask {
	return slices.DeleteFunc(slices.Clone(list), func(s babiTask) bool { return s.standIn != "" })
}

// standInErrors describes the errors of tasks that were trained on a stand-in: "task 3 from 1,925 questions 45.1 %".
func standInErrors(list []babiTask) string {
	var texts []string
	for _, s := range list {
		if s.standIn != "" {
			texts = append(texts, fmt.Sprintf("task %d %s %.1f %%", s.task, s.standInSize(), s.best))
		}
	}
	return and(texts)
}

// babiLacks returns the tasks without a result on their own files.
func babiLacks(list []babiTask) (missing []int) {
	for n := range paper.BabiTasks {
		if !slices.ContainsFunc(list, func(s babiTask) bool { return s.task == n+1 && s.standIn == "" }) {
			missing = append(missing, n+1)
		}
	}
	return missing
}

// babiSeeds returns the number of seeds: "3 seeds", or "1 to 3 seeds".
func babiSeeds(list []babiTask) string {
	var counts []int
	for _, s := range list {
		counts = append(counts, len(s.seeds))
	}
	return numberOfSeeds(counts)
}

// numberOfSeeds returns "3 seeds" or "1 to 3 seeds"; "" if there are none.
func numberOfSeeds(counts []int) string {
	if len(counts) == 0 {
		return ""
	}
	few, many := slices.Min(counts), slices.Max(counts)
	if few == many {
		return count(many, "seed")
	}
	return fmt.Sprintf("%d to %d seeds", few, many)
}

// babiSizes returns the width and the largest number of updates of each setting, from its recipes: "width 64 and at most 5,000 updates (1k single)".
func babiSizes(t paper.Table) string {
	var texts []string
	for _, s := range paper.BabiSettings {
		row, _ := t.Row("babi-" + s.Name)
		fields := recipes.MustRun(row.Family + "/" + row.Columns[0]).Fields()
		texts = append(texts, fmt.Sprintf("width %v and at most %s updates (%s)", fields["model.classifier.width"], thousands(int(fields["training.steps"].(float64))), plain(s.Title)))
	}
	return and(texts)
}

// babi writes table 1 in the paper's layout.
func (p *page) babi(t paper.Table) {
	p.printf("Average error over the tasks (failed tasks of how many). Our averages leave out tasks without a result and tasks trained on other files. If several seeds have equally few validation errors, the one with the lowest validation cross entropy (without label smoothing) is taken, or the first of them if one has no cross entropy recorded. The range has the average error if the best of them, or the worst, is taken in each task. Our models are smaller than the authors', or trained for less: %s.\n\n", babiSizes(t))
	head := []string{"model", ""}
	for _, s := range paper.BabiSettings {
		head = append(head, s.Title)
	}
	p.head(head...)
	for _, m := range paper.BabiModels {
		rows := [][]string{{m.Title, "paper"}, {"", "ours, best seed by validation"}, {"", "range of equally good seeds"}, {"", "ours, mean over seeds"}}
		for _, s := range paper.BabiSettings {
			row, _ := t.Row("babi-" + s.Name + m.Suffix)
			for i, cell := range p.babiCells(t, row) {
				rows[i] = append(rows[i], cell)
			}
		}
		for _, row := range rows {
			if slices.ContainsFunc(row[2:], func(cell string) bool { return cell != "" }) {
				p.row(row...)
			}
		}
	}
	p.printf("\n")
	for _, text := range p.standIns(t) {
		p.printf("- %s\n", text)
	}
	p.printf("- Words exchanged: at half of the visits of a training question, the people, places and objects of its story and answer are exchanged one-to-one (in task 16 people, objects and colours, in tasks 15 and 20 only people, in task 11 men and women apart), and words of its facts "+
		"are at every visit drawn anew among their synonyms, by the lists in task/babi/renaming.go. Only words that occur in the task's training stories take part. Validation and "+
		"test questions stay as they are. The paper does not do this; its figures are repeated for comparison. These models were also [trained otherwise](%[1]s#training-where-words-are-exchanged): the difference from the columns without exchanged words is not due to the words alone. An [ablation](%[1]s#ablation-of-exchanged-words) of three tasks says what each part does.\n"+
		"- 10k, joint, and 1k, joint, words exchanged: an epoch visits the training questions of tasks 16 and 17 four times and all others once, for all three models. The paper says nothing of the kind. 1k, single, words exchanged: UT with dynamic halting reads the answer from the mean over all positions, as the authors' code does; all other models read it from the position of the question.\n", path.Join(p.folder, "table1.md"))
	p.printf("- In the published files, some test questions also occur, word for word and with all their facts, in the 10k training file: " +
		"741 of 1,000 for task 4, 203 for task 20, 152 for task 17, and at most 25 for any other task; in the 1k file 134 for task 4, 119 for task 20, and at most 16 for any other.\n\n")
	p.ponderBySupports(t)
}

// standIns describes the files that replaced the training files of tasks, one text for each task.
func (p *page) standIns(t paper.Table) (texts []string) {
	type use struct {
		task int
		file string
	}
	families, uses := map[use][]string{}, []use{}
	for _, r := range t.Rows {
		for _, s := range p.book.babiTasks(t, r) {
			if s.standIn == "" {
				continue
			}
			u := use{s.task, fmt.Sprintf("%s with %s", escape(s.standIn), count(s.standInQuestions, "question"))}
			if families[u] == nil {
				uses = append(uses, u)
			}
			families[u] = append(families[u], r.Family)
		}
	}
	slices.SortStableFunc(uses, func(x, y use) int { return x.task - y.task })
	for first := 0; first < len(uses); {
		task, files := uses[first].task, []string{}
		for ; first < len(uses) && uses[first].task == task; first++ {
			files = append(files, fmt.Sprintf("%s in %s", uses[first].file, and(families[uses[first]])))
		}
		text := fmt.Sprintf("Task %d: the training file was missing from our copy of the data, and other files were used instead: %s. [Errors of that task](%s#task-3-by-its-training-questions) and its ponder times are not comparable with the paper's.",
			task, strings.Join(files, "; "), path.Join(p.folder, t.Name()+".md"))
		if strings.Contains(text, "simulated") {
			text += " Simulated stories follow rules that were read off the published ones, those of the test among them."
		}
		texts = append(texts, text)
	}
	return texts
}
