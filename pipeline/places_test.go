package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task/table"
)

// dataOf returns where a run reads its table.
func dataOf(t *testing.T, r experiment.Run) string {
	t.Helper()
	files := r.Files()
	if len(files) != 1 || files[0].Field != "task.table.path" {
		t.Fatalf("files %+v", files)
	}
	return files[0].Path
}

// A run finds its data from another working directory, after it was moved with them, and where they lie beside it, which it says; data that
// are nowhere keep their path. A path that is set on resume counts from the working directory. Caught when planted: a run directory taken
// for data; paths that begin in the present directory; data beside the run without a message; a new path that stays relative.
func TestRunFindsItsData(t *testing.T) {
	root := t.TempDir()
	write := func(elements ...string) string {
		path := filepath.Join(append([]string{root}, elements...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1\t2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("home", "data", "pairs.tsv")
	t.Chdir(filepath.Join(root, "home"))
	log, err := runlog.Create(filepath.Join(root, "home", "runs", "r"), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeDataRoot(log); err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	r := experiment.Defaults()
	r.Task = experiment.Task{Value: table.Table{Path: filepath.Join("data", "pairs.tsv")}}
	check := func(dir string, r experiment.Run, want string, saying bool) {
		t.Helper()
		said := ""
		found, err := withFoundFiles(openedRun(t, dir), r, func(line string) { said += line })
		if err != nil || dataOf(t, found) != want || (said != "") != saying || saying && !strings.HasSuffix(said, "is not where it was: using "+want) {
			t.Errorf("%s, %v, %q, want %s", dataOf(t, found), err, said, want)
		}
	}
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	dir := filepath.Join(root, "home", "runs", "r")
	check(dir, r, filepath.Join(root, "home", "data", "pairs.tsv"), false)
	if err := os.Rename(filepath.Join(root, "home"), filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(root, "moved", "runs", "r")
	check(dir, r, filepath.Join(root, "moved", "data", "pairs.tsv"), false)
	present := runOn(table.Table{Path: filepath.Join(root, "moved", "data", "pairs.tsv")})
	check(dir, present, dataOf(t, present), false)

	changed, err := withMovedFiles(openedRun(t, dir), r, []string{"task.table.path=mine.tsv"})
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Join(root, "moved", dataOf(t, changed)); filepath.IsAbs(dataOf(t, changed)) || got != filepath.Join(elsewhere, "mine.tsv") {
		t.Errorf("mine.tsv becomes %s", dataOf(t, changed))
	}
	if same, err := withMovedFiles(openedRun(t, dir), r, nil); err != nil || dataOf(t, same) != filepath.Join("data", "pairs.tsv") {
		t.Errorf("without an assignment the path is %s, %v", dataOf(t, same), err)
	}
	absolute := filepath.Join(elsewhere, "absolute.tsv")
	if given, err := withMovedFiles(openedRun(t, dir), r, []string{"task.table.path=" + absolute}); err != nil || dataOf(t, given) != absolute {
		t.Errorf("an absolute path becomes %s, %v", dataOf(t, given), err)
	}
	here, err := filepath.Rel(elsewhere, dir)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := withMovedFiles(openedRun(t, here), r, []string{"task.table.path=mine.tsv"}); err != nil || dataOf(t, same) != dataOf(t, changed) {
		t.Errorf("of a run with a relative path mine.tsv becomes %s, %v, want %s", dataOf(t, same), err, dataOf(t, changed))
	}
	if _, err := withMovedFiles(openedRun(t, dir), r, []string{"seed=3"}); err == nil {
		t.Error("a seed is a place of data")
	}

	if err := os.Rename(filepath.Join(root, "moved", "data"), filepath.Join(root, "moved", "runs", "data")); err != nil {
		t.Fatal(err)
	}
	check(dir, r, filepath.Join(root, "moved", "runs", "data", "pairs.tsv"), true)
	beside := write("moved", "runs", "r", "pairs.tsv")
	check(dir, r, filepath.Join(root, "moved", "runs", "data", "pairs.tsv"), true)
	if err := os.RemoveAll(filepath.Join(root, "moved", "runs", "data")); err != nil {
		t.Fatal(err)
	}
	check(dir, r, beside, true)
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	check(dir, r, filepath.Join(root, "moved", "data", "pairs.tsv"), false) // as an error names it
	if err := os.Remove(filepath.Join(dir, "paths.json")); err != nil {     // as in runs of earlier versions
		t.Fatal(err)
	}
	if from, err := dataRoot(openedRun(t, dir)); from != "" || err != nil {
		t.Errorf("it begins in %q, %v", from, err)
	}
	t.Chdir(root)
	write("data", "pairs.tsv")
	check(dir, r, filepath.Join("data", "pairs.tsv"), false)
	asGiven := runOn(table.Table{Path: "." + string(filepath.Separator) + filepath.Join("data", "pairs.tsv")})
	check(dir, asGiven, dataOf(t, asGiven), false)
	if same, err := withMovedFiles(openedRun(t, dir), r, []string{"task.table.path=" + dataOf(t, asGiven)}); err != nil || dataOf(t, same) != dataOf(t, asGiven) {
		t.Errorf("the path that is set is %s, %v", dataOf(t, same), err)
	}
	check(dir, runOn(table.Table{Path: filepath.Join("data", "r")}), filepath.Join("data", "r"), false) // the run itself is no data
	other := write("moved", "runs", "babi", "config.json")
	if err := os.Mkdir(filepath.Join(filepath.Dir(other), "checkpoints"), 0o755); err != nil {
		t.Fatal(err)
	}
	check(dir, runOn(table.Table{Path: filepath.Join("data", "babi")}), filepath.Join("data", "babi"), false)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	check(dir, runOn(table.Table{Path: filepath.Join("data", "babi")}), filepath.Dir(other), true)
	if err := os.WriteFile(filepath.Join(dir, "paths.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = withMovedFiles(openedRun(t, dir), r, nil)
	refused(t, "a damaged record of places", err, "paths.json: ")
	_, err = withFoundFiles(openedRun(t, dir), r, nil)
	refused(t, "a damaged record of places", err, "paths.json: ")
}

func openedRun(t *testing.T, dir string) *runlog.Run {
	t.Helper()
	log, err := runlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The configuration of a run names its data where they are, which is said if they were moved.
// Caught when planted: a run without a configuration; the places of training.
func TestReadRunOfData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := runOn(table.Table{Path: "nowhere.tsv"})
	r.Name = "data"
	log, err := runlog.Create(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, beside := range []bool{false, true} {
		want, lines := "nowhere.tsv", 0
		if beside {
			want, lines = filepath.Join(dir, "nowhere.tsv"), 1
			if err := os.WriteFile(want, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said []string
		found, err := ReadRunOfData(dir, func(line string) { said = append(said, line) })
		if err != nil || found.Name != "data" || dataOf(t, found) != want || len(said) != lines {
			t.Errorf("%s in %s, it says %q, %v, want %s", found.Name, dataOf(t, found), said, err, want)
		}
	}
	if _, err := ReadRunOfData(t.TempDir(), nil); err == nil {
		t.Error("an empty folder has a configuration")
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRunOfData(dir, nil); err == nil {
		t.Error("a damaged configuration is read")
	}
}

// Data are named as in the configuration if that path is right from the present working directory, also of a run in a folder beside it;
// below it by a relative path, and elsewhere by an absolute one. Caught when planted: a path by way of the run directory, such as
// ../../home/here/pairs.tsv.
func TestPathsOfData(t *testing.T) {
	root := t.TempDir()
	here, other := filepath.Join(root, "home", "here"), filepath.Join(root, "other")
	for _, dir := range []string{here, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	log, err := runlog.Create(filepath.Join("..", "..", "other", "r"), map[string]string{})
	if err == nil {
		err = writeDataRoot(log)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	r := experiment.Defaults()
	r.Task = experiment.Task{Value: table.Table{Path: "pairs.tsv"}}
	file := filepath.Join(here, "pairs.tsv")
	check := func(from, dir, want string) {
		t.Helper()
		t.Chdir(from)
		for _, missing := range []bool{true, false} {
			if !missing {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found, err := withFoundFiles(openedRun(t, dir), r, nil)
			if err != nil || dataOf(t, found) != want {
				t.Errorf("from %s, missing %v: %s, %v, want %s", from, missing, dataOf(t, found), err, want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	check(here, filepath.Join("..", "..", "other", "r"), "pairs.tsv")
	check(filepath.Join(root, "home"), filepath.Join("..", "other", "r"), filepath.Join("here", "pairs.tsv"))
	check(other, "r", file)
}
