package recipes_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/objective"
	"universal-transformer/task"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
)

var (
	cellName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)
	ownName  = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
)

// Every recipe is valid, has a name that follows the rule and is its run's, a group and a summary, and is itself again after being written and
// read. Caught when planted: two recipes of one name; a run that keeps another name; an underscore; a field that JSON loses.
func TestRecipes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range recipes.All() {
		if seen[r.Name] {
			t.Errorf("%s is defined twice", r.Name)
		}
		seen[r.Name] = true
		if rule := map[bool]*regexp.Regexp{true: cellName, false: ownName}[strings.HasPrefix(r.Group, "table ")]; !rule.MatchString(r.Name) {
			t.Errorf("%s: the name does not match %s", r.Name, rule)
		}
		if r.Group == "" || r.Summary == "" {
			t.Errorf("%s: group %q, summary %q", r.Name, r.Group, r.Summary)
		}
		run := r.Run()
		if run.Name != r.Name || run.Seed != 1 {
			t.Errorf("%s: its run is %q with seed %d", r.Name, run.Name, run.Seed)
		}
		if err := run.Validate(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		for form, data := range map[string][]byte{"short": run.JSON(), "complete": run.Complete()} {
			if again, err := experiment.Decode(data); err != nil || !reflect.DeepEqual(again, run) || !bytes.Equal(again.JSON(), run.JSON()) {
				t.Errorf("%s, %s form: written and read again it is %+v, %v", r.Name, form, again, err)
			}
		}
		if named, err := recipes.Named(r.Name); err != nil || named.Name != r.Name {
			t.Errorf("Named(%q) is %q, %v", r.Name, named.Name, err)
		}
	}
	for _, r := range recipes.All() {
		if seen[r.Family()] && r.Family() != r.Name {
			t.Errorf("%s is a recipe and a family: the run directory of one would lie in that of the other", r.Family())
		}
		if r.From != "" && !seen[r.From] {
			t.Errorf("%s starts from %s, which is no recipe", r.Name, r.From)
		}
	}
}

// The cells of the paper's tables, by hand: the columns of each family.
func TestCells(t *testing.T) {
	tasks := make([]string, 20)
	for i := range tasks {
		tasks[i] = "task" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
	}
	want := map[string][]string{}
	add := func(columns []string, families ...string) {
		for _, f := range families {
			want[f] = columns
		}
	}
	add(tasks, "babi-10k-single-transformer", "babi-10k-single", "babi-10k-single-adaptive", "babi-1k-single-transformer", "babi-1k-single", "babi-1k-single-adaptive",
		"babi-1k-single-renamed-transformer", "babi-1k-single-renamed", "babi-1k-single-renamed-adaptive")
	add([]string{"task03"}, "babi-10k-simulated-transformer", "babi-10k-simulated", "babi-10k-simulated-adaptive",
		"babi-10k-simulated-renamed-transformer", "babi-10k-simulated-renamed", "babi-10k-simulated-renamed-adaptive")
	add([]string{"joint"}, "babi-10k-joint-transformer", "babi-10k-joint", "babi-10k-joint-adaptive", "babi-1k-joint-transformer", "babi-1k-joint", "babi-1k-joint-adaptive",
		"babi-1k-joint-renamed-transformer", "babi-1k-joint-renamed", "babi-1k-joint-renamed-adaptive")
	add([]string{"natural-text", "natural-classes", "enriched-text", "enriched-classes", "verbs", "forms", "forms-text", "pairs", "pairs-novels", "forms-pretrained"}, "agreement-lstm", "agreement-transformer", "agreement", "agreement-adaptive")
	add([]string{"language", "reading", "annotated", "novels", "novels-words", "novels-reading", "novels-pretrained"}, "lambada-lstm", "lambada-transformer", "lambada", "lambada-adaptive")
	add([]string{"language"}, "lambada-steps8", "lambada-steps9")
	add([]string{"language", "reading"}, "lambada-paper")
	add([]string{"copy", "reverse", "addition"}, "algorithmic-lstm", "algorithmic-lstm-plain", "algorithmic-transformer", "algorithmic-paper", "algorithmic-paper-adaptive",
		"algorithmic-neural-gpu", "algorithmic", "algorithmic-coupled", "algorithmic-alike-transformer", "algorithmic-alike-transformer-narrow", "algorithmic-alike-one-step", "algorithmic-alike-lstm",
		"algorithmic-alike-offset", "algorithmic-alike-transformer-narrow-longer", "algorithmic-alike-one-step-longer", "algorithmic-alike-lstm-longer",
		"algorithmic-adam", "algorithmic-adam-transformer", "algorithmic-adam-transformer-narrow", "algorithmic-adam-one-step", "algorithmic-adam-one-step-longer", "algorithmic-adam-lstm",
		"algorithmic-extended", "algorithmic-extended-transformer", "algorithmic-extended-transformer-narrow", "algorithmic-extended-one-step", "algorithmic-extended-lstm")
	add([]string{"copy", "double", "reverse"}, "memory-lstm", "memory-lstm-longer", "memory-transformer", "memory-transformer-longer", "memory", "memory-adaptive")
	add([]string{"program", "control", "addition"}, "programs-lstm", "programs-lstm-longer", "programs-transformer", "programs-transformer-longer", "programs", "programs-adaptive")
	add([]string{"program", "control"}, "programs-wide", "programs-wide-transformer")
	add([]string{"control"}, "programs-fine-tuned", "programs-little-end")
	add([]string{"program"}, "programs-large")
	add([]string{"multi30k"}, "translation-tiny", "translation-weighted-transformer", "translation-small", "translation-adaptive")
	add([]string{"multi30k", "multi30k-raw", "news"}, "translation-transformer", "translation-transformer-longer")
	add([]string{"multi30k", "multi30k-raw", "news", "tatoeba"}, "translation")
	add([]string{"wmt14"}, "translation-paper")
	have := map[string][]string{}
	for _, r := range recipes.All() {
		if family, column, ok := strings.Cut(r.Name, "/"); ok {
			have[family] = append(have[family], column)
		}
	}
	for family := range have {
		if _, ok := want[family]; !ok {
			t.Errorf("family %s is not expected", family)
		}
	}
	for family, columns := range want {
		if !slices.Equal(have[family], columns) {
			t.Errorf("the columns of %s are %v, want %v", family, have[family], columns)
		}
	}
}

// A name that is not known offers the nearest; one of an earlier version says the present one, which exists; a family lists its recipes.
// Caught when planted: an earlier name that leads nowhere; earlier names in the order of a map.
func TestNamedRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"algorithmic/cpoy": `did you mean "algorithmic/copy"?`, "revers": `did you mean "algorithmic/reverse"?`, "own-pair": `did you mean "own-pairs"?`,
		"copy": "recipe copy is now called algorithmic/copy", "base": "is now called own-pairs", "translate_wmt14": "is now called translation-paper/wmt14",
		"memory-lstm": "choose one of memory-lstm/copy, memory-lstm/double, memory-lstm/reverse", "babi-1k-single": "choose one of babi-1k-single/task01 to babi-1k-single/task20",
		"": fmt.Sprintf(`recipe "" is not known: there are %d, such as demo and `, len(recipes.All())), "xyzzy-plugh": `"xyzzy-plugh" is not known: there are `,
		"exec": `did you mean "programs/addition"?`, // the first of the earlier names that begin so, execute-addition
	} {
		if _, err := recipes.Named(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	for _, name := range strings.Fields(`copy reverse addition copy-paper reverse-paper addition-paper copy-paper-adaptive reverse-paper-adaptive addition-paper-adaptive
		copy-transformer copy-lstm copy-neural-gpu babi execute-copy execute-copy-adaptive execute-double execute-double-adaptive execute-reverse
		execute-reverse-adaptive execute-program execute-program-wide execute-program-large execute-program-adaptive execute-control execute-control-wide
		execute-control-little-end execute-control-adaptive execute-addition execute-addition-adaptive agreement agreement-adaptive agreement-classes
		agreement-classes-adaptive lambada lambada-adaptive lambada-reading lambada-reading-adaptive lambada-reading-annotated lambada-paper lambada-reading-paper
		multi30k multi30k-adaptive multi30k-tiny multi30k-raw translate-news translate-tatoeba translate_wmt14 translation text base`) {
		_, err := recipes.Named(name)
		if err == nil {
			t.Errorf("%s is still a recipe", name)
			continue
		}
		_, now, ok := strings.Cut(err.Error(), "is now called ")
		if _, err := recipes.Named(now); !ok || err != nil {
			t.Errorf("%s: %q leads to no recipe: %v", name, now, err)
		}
	}
}

// A configuration file that only names its data is trained as the recipe of its task is, so that what one learns from the recipe holds for files.
// So it is if the file names the kind of model or a schedule without fields. Caught when planted: the defaults of pairs for labels.
func TestOwnRecipesAreTheDefaults(t *testing.T) {
	for name, file := range map[string]string{
		"own-pairs": `{"table": {"path": "pairs.tsv"}}, "model": {"encoder_decoder": {}}`, "own-labels": `{"labels": {"path": "labels.csv"}}, "model": {"classifier": {}}`,
		"own-tags": `{"tags": {"path": "tags.conll"}}, "model": {"tagger": {}}`, "own-text": `{"text": {"path": "text.txt"}}, "model": {"language_model": {}}`,
		"own-translation": `{"translation": {"training": [{"source": "train.en", "target": "train.de"}]}}, "model": {"encoder_decoder": {}}`,
	} {
		taskOnly, _, _ := strings.Cut(file, `, "model"`)
		for _, text := range []string{taskOnly, file, file + `, "training": {"schedule": {"cosine": {}}, "batch": {}}, "seed": 1`} {
			want := recipes.MustRun(name)
			r, err := experiment.Parse([]byte(`{"name": "` + name + `", "task": ` + text + `}`))
			if err != nil || !reflect.DeepEqual(r, want) {
				t.Errorf("%s: %v, %s, want %s", text, err, r.JSON(), want.JSON())
			}
		}
	}
}

// Recipes of the paper's tables have the weight of the ponder cost of the authors' code (its act_loss_weight), except small adaptive models
// of translation and programs and that of the demo, which halt early at that weight, and that of all tasks of bAbI, whose cost comes late.
// Caught when planted: a recipe with the weight of Defaults.
func TestPonderWeights(t *testing.T) {
	low := []string{"own-pairs", "own-labels", "own-tags", "own-text", "own-translation", "translation-adaptive/multi30k", "programs-adaptive/program", "programs-adaptive/control", "programs-adaptive/addition"}
	for _, r := range recipes.All() {
		want := objective.PonderSchedule{Weight: 0.01}
		if slices.Contains(low, r.Name) {
			want.Weight = 0.001
		}
		switch r.Name {
		case "demo":
			want.Weight = 0.005
		case "babi-10k-joint-adaptive/joint":
			want = objective.PonderSchedule{Weight: 0.001, Delay: 10_000}
		}
		if got := r.Run().Training.Ponder; got != want {
			t.Errorf("%s: the ponder cost is weighed %+v, want %+v as in the paper's code, or as this test lists it: add a recipe that differs on purpose to the list", r.Name, got, want)
		}
	}
}

// Published recipes keep the mean of the means of several batches, which their runs were trained with; starting points for your own data
// weigh batches by tokens, as files without the field do, and run directories without it do not.
// Caught when planted: the rule of own data in a published recipe; run directories that are completed like files.
func TestWeighedBatches(t *testing.T) {
	for _, r := range recipes.All() {
		if run := r.Run(); run.Training.WeighByTokens != strings.HasPrefix(r.Name, "own-") {
			t.Errorf("%s: training.weigh_by_tokens is %v", r.Name, run.Training.WeighByTokens)
		}
	}
	file := `{"name": "a", "task": {"table": {"path": "p"}}, "training": {"accumulate": 4}}`
	if r, err := experiment.Parse([]byte(file)); err != nil || !r.Training.WeighByTokens {
		t.Errorf("a file: %v, %v", r.Training.WeighByTokens, err)
	}
	if r, err := experiment.Decode([]byte(file)); err != nil || r.Training.WeighByTokens {
		t.Errorf("a run directory: %v, %v", r.Training.WeighByTokens, err)
	}
}

// Published recipes of translation keep their optimizer and their tokens an update: eight and two GPUs with 4,096 each.
// Caught when planted: Muon for WMT14.
func TestPublishedTranslation(t *testing.T) {
	for name, gpus := range map[string]int{"translation-paper/wmt14": 8, "translation-tiny/multi30k": 2} {
		tr := recipes.MustRun(name).Training
		if tr.Muon != 0 || tr.WeightDecay != 0 || tr.Batch.Tokens != 4096 || tr.Accumulate != gpus {
			t.Errorf("%s: muon %v, weight decay %v, %d times %d tokens", name, tr.Muon, tr.WeightDecay, tr.Accumulate, tr.Batch.Tokens)
		}
		if _, ok := tr.Schedule.Value.(schedule.InverseSquareRoot); !ok {
			t.Errorf("%s: schedule %v", name, tr.Schedule)
		}
	}
}

// Paths reach the fields of the needs; a stand-in only the recipe of its task. Caught when planted: a stand-in of every task; the folder in place of
// the file.
func TestWithData(t *testing.T) {
	dir := t.TempDir()
	standIn := filepath.Join(dir, "qa2_partial.txt")
	if err := os.WriteFile(standIn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"linzen": "l", "prose": "p", "novels": "n", "lambada": "a", "data": "d", "stand-in": standIn, "multi30k": "m", "pairs": "3"}
	for name, want := range map[string]string{
		"agreement/natural-text": `"path": "l"`, "agreement/verbs": `"path": "l/agr_50_mostcommon_10K.tsv.gz"`, "agreement-lstm/pairs": `"path": "l/subj_agr_filtered.text",
      "text": "p"`, "agreement/pairs-novels": `"text": "n"`, "agreement-lstm/forms-pretrained": `"pairs": "l/subj_agr_filtered.text",
      "text": "n"`, "lambada/novels": `"prose": "n"`, "lambada/reading": `"prose": "p"`, "lambada-adaptive/language": `"path": "a"`, "translation/multi30k-raw": `"path": "m"`, "own-pairs": `"path": "3"`,
		"translation/news": `"path": "wmt_news"`, "babi-1k-single/task02": `qa2_partial.txt"`, "babi-10k-joint/joint": `qa2_partial.txt"`,
	} {
		recipe, err := recipes.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if run, err := recipe.WithData(data); err != nil || !strings.Contains(string(run.JSON()), want) || run.Name != name {
			t.Errorf("%s: %v, %s lacks %s", name, err, run.JSON(), want)
		}
	}
	simulated, err := recipes.Named("babi-10k-simulated/task03") // a stand-in of the command does not replace the simulated stories
	if err != nil {
		t.Fatal(err)
	}
	third := filepath.Join(dir, "qa3_real.txt")
	if err := os.WriteFile(third, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if run, err := simulated.WithData(map[string]string{"stand-in": third, "simulated": "qa3_s.txt"}); err != nil || !strings.Contains(string(run.JSON()), `"stand_in": "qa3_s.txt"`) {
		t.Errorf("simulated stories: %v, %s", err, run.JSON())
	}
	other, err := recipes.Named("babi-1k-single/task03")
	if err != nil {
		t.Fatal(err)
	}
	if run, err := other.WithData(data); err != nil || strings.Contains(string(run.JSON()), "qa2_partial") {
		t.Errorf("a stand-in of another task: %s, %v", run.JSON(), err)
	}
	for file, want := range map[string]string{"partial.txt": "stand_in is", filepath.Join(dir, "qa3_gone.txt"): "no such file"} {
		if _, err := other.WithData(map[string]string{"stand-in": file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// Runs whose data are not there are told in one line, and generated tasks need none. Caught when planted: a line for each of two files.
func TestDataCheck(t *testing.T) {
	var check recipes.DataCheck
	t.Chdir(t.TempDir())
	for _, r := range recipes.All() {
		err := check.Missing(r.Run())
		needs := slices.ContainsFunc(r.Needs, func(n recipes.Need) bool { return n.Default != "" && r.Group != "own data" })
		if (err != nil) != needs || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, needs %v", r.Name, err, r.Needs)
		}
	}
}

// Positions fit training sequences, and no source that table 4 trains on has more than 40 symbols. Caught when planted: max_length 41.
func TestGeneratedTasks(t *testing.T) {
	for _, r := range recipes.All() {
		if len(r.Needs) > 0 || r.Name == "own-translation" {
			continue
		}
		run := r.Run()
		opened, err := run.OpenTask()
		if err != nil {
			t.Fatal(err)
		}
		if err := run.CheckPositions(opened); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		if r.Group != "table 4" {
			continue
		}
		longest := 0
		for i := range int64(3000) {
			longest = max(longest, len(task.WithoutEnd(opened.Training(1, i).Source)))
		}
		if source, _ := opened.MaxLengths(); longest != 40 || source > 41 {
			t.Errorf("%s: trains on sources of up to %d symbols, and says %d", r.Name, longest, source)
		}
	}
}

// own-translation has the subwords and the selection by BLEU of translation/multi30k, and trains a smaller model for fewer updates.
func TestOwnTranslation(t *testing.T) {
	own, other := recipes.MustRun("own-translation"), recipes.MustRun("translation/multi30k")
	data, ok := own.Task.Value.(translation.Translation)
	if !ok || data.Choice != other.Task.Value.(translation.Translation).Choice {
		t.Fatalf("the task is %+v", own.Task.Value)
	}
	if !own.Training.BestByMeasure || own.Training.Decoded != other.Training.Decoded || own.Training.LabelSmoothing != other.Training.LabelSmoothing {
		t.Errorf("training is %+v", own.Training)
	}
	if own.Training.Steps >= other.Training.Steps || own.Model.Value.Channels() >= other.Model.Value.Channels() {
		t.Errorf("%d updates of width %d: more than minutes", own.Training.Steps, own.Model.Value.Channels())
	}
}

// No recipe of a table derives from the defaults of configuration files, which may change. Caught when planted: the demo that does.
func TestRecipesStateTheirFields(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	call := regexp.MustCompile(`[^[]experiment\.Defaults`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && call.Match(source) != (file == "own.go") {
			t.Errorf("%s: calls experiment.Defaults or DefaultsFor: %v", file, call.Match(source))
		}
	}
}
