//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

// small returns the command of a run of less than a second with all features that a resume must restore: dropout, random positions,
// several batches per update, adaptive halting, and a best checkpoint that may not be the last one.
func small(dir string, more ...string) []string {
	args := []string{"train", "demo", "--out", dir}
	for _, set := range append([]string{
		"model.width=8", "model.heads=2", "model.transition.feedforward.filter=16", "task.reverse.max_length=4", "training.validation=32",
		`model.halting={"frozen": {"max_steps": 3, "epsilon": 0.01}}`, `model.positions={"random_offset": {"max": 12}}`,
		`model.dropout={"embedding": 0.1, "attention": 0.1, "transition": 0.1, "residual": 0.1}`,
		`training.batch={"tokens": 96}`, "training.accumulate=2", "training.ponder.warmup=30", "training.schedule.cosine.warmup=10",
		"training.steps=60", "training.log_every=3", "training.evaluate_every=7", "training.checkpoint_every=5",
	}, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// query is a command that is run on a run directory.
type query struct {
	name  string
	args  []string
	stdin string
}

// queries lists the commands that read a run directory.
var queries = []query{
	{"eval", []string{"eval", "run", "--count", "100"}, ""},
	{"decode", []string{"decode", "run", "--sample", "--seed", "3"}, "123\n4\n9876\n"},
	{"export", []string{"export", "run"}, ""},
	{"trace", []string{"trace", "run", "--input", "321", "--json", "--out", "-"}, ""},
}

// train trains the runs that trials start from.
func (w *world) train() error {
	dir := filepath.Join(w.dir, "reference")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	s := &scene{world: w, dir: dir}
	w.base = filepath.Join(dir, "run")
	s.ut(small("run", "training.steps=20", "training.keep=100")...).ok()
	s.ut("train", "--resume", "run", "--set", "training.steps=60").ok() // this creates changes.json
	if err := takeBack(w.base); err != nil {
		return err
	}
	s.ut("trace", "run", "--input", "12").ok()
	for _, a := range queries {
		r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin)}).ok()
		w.answers[a.name] = r.stdout
	}
	s.copyOf(w.base, "final")
	s.ut("train", "--resume", "final").ok()
	w.final = read(filepath.Join(dir, "final"))
	start := time.Now()
	s.ut(small("killed")...).ok()
	w.took = time.Since(start)
	w.killed = read(filepath.Join(dir, "killed"))
	return w.trainOthers(s)
}

// takeBack converts a finished run to one that was interrupted after update 40, when the best checkpoint was not the newest.
func takeBack(dir string) error {
	const step, best, first = 40, 35, 28
	r, err := runlog.Resume(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := errors.Join(r.Truncate(step), r.MarkBest(best)); err != nil {
		return err
	}
	steps, err := r.Steps()
	for _, s := range steps {
		if s < first {
			err = errors.Join(err, os.Remove(filepath.Join(dir, "checkpoints", fmt.Sprintf("step-%09d.safetensors", s))))
		}
	}
	return err
}

// trainOthers trains a run on a table of pairs, and writes artificial bAbI tasks.
func (w *world) trainOthers(s *scene) error {
	var pairs, questions bytes.Buffer
	for i := range 60 {
		number := fmt.Sprint(i * 7)
		fmt.Fprintf(&pairs, "%s\t%s\n", number, strings.Map(func(r rune) rune { return r - '0' + 'a' }, number))
	}
	rooms := strings.Fields("kitchen garden office")
	for n := range 60 {
		fmt.Fprintf(&questions, "1 Mary went to the %s.\n2 John went to the %s.\n3 Where is Mary?\t%[1]s\t1\n", rooms[n%3], rooms[n/3%3])
	}
	w.table, w.stories = filepath.Join(s.dir, "table"), filepath.Join(s.dir, "stories")
	err := os.WriteFile(filepath.Join(s.dir, "pairs.tsv"), pairs.Bytes(), 0o644)
	if err == nil {
		err = os.MkdirAll(filepath.Join(w.stories, "en"), 0o755)
	}
	for _, name := range []string{"qa1_a_train.txt", "qa1_a_test.txt", "qa2_a_train.txt", "qa2_a_test.txt"} {
		if err == nil {
			err = os.WriteFile(filepath.Join(w.stories, "en", name), questions.Bytes(), 0o644)
		}
	}
	if err != nil {
		return err
	}
	s.ut("train", "own-pairs", "--out", "table", "--set", "task.table.path=pairs.tsv", "--set", "training.steps=4", "--set", "training.evaluate_every=2",
		"--set", "model.width=8", "--set", "model.heads=2", "--set", "model.transition.feedforward.filter=16").ok()
	return nil
}

// copyOf copies a run directory into the trial's folder.
func (s *scene) copyOf(from, name string) (dir string) {
	dir = filepath.Join(s.dir, name)
	must(os.CopyFS(dir, os.DirFS(from)))
	return dir
}

// contents maps the names of all files below a directory to their bytes.
type contents map[string][]byte

func read(dir string) contents {
	c := contents{}
	must(fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		c[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	}))
	return c
}

// files returns the names in order.
func (c contents) files() []string { return slices.Sorted(maps.Keys(c)) }

// missing returns the names of files whose content is not in the other contents, possibly under a name for rejected files. Metrics
// may have more lines; locks, and files that are always rewritten, do not count.
func (c contents) missing(after contents) (names []string) {
	for _, name := range c.files() {
		same := bytes.Equal(c[name], after[name]) || name == "metrics.jsonl" && bytes.HasPrefix(after[name], c[name])
		if same || name == "lock" || name == "sessions.json" || strings.HasPrefix(name, "export/") {
			continue
		}
		aside := slices.ContainsFunc(after.files(), func(other string) bool {
			return strings.HasPrefix(other, name+".damaged") && bytes.Equal(c[name], after[other])
		})
		if !aside {
			names = append(names, name)
		}
	}
	return names
}

// differs describes a difference between two runs that should be equal, ignoring a file that was damaged and is only read. It returns
// "" if there is none.
func (c contents) differs(got contents, damaged string) string {
	for _, name := range []string{"config.json", "vocabulary.json", "best.json", "metrics.jsonl"} {
		if only := name == "config.json" || name == "vocabulary.json"; only && name == damaged {
			continue
		}
		if !bytes.Equal(c[name], got[name]) {
			return name
		}
	}
	return c.compareCheckpoints(got)
}

// compareCheckpoints names the newest checkpoint, or one of its tensors, that differs between two runs.
func (c contents) compareCheckpoints(got contents) string {
	name, other := c.newest(), got.newest()
	if name != other {
		return fmt.Sprintf("the newest checkpoint, %q in place of %q", other, name)
	}
	a, errA := safetensors.Decode(c[name])
	b, errB := safetensors.Decode(got[name])
	if errA != nil || errB != nil || len(a.Tensors) == 0 || len(a.Tensors) != len(b.Tensors) {
		return fmt.Sprintf("%s (%v, %v)", name, errA, errB)
	}
	for _, t := range a.Tensors {
		u, ok := b.Tensor(t.Name)
		if !ok || t.DType != u.DType || !slices.Equal(t.Shape, u.Shape) || !bytes.Equal(t.Data, u.Data) {
			return name + ": " + t.Name
		}
	}
	return ""
}

func (c contents) newest() (newest string) {
	for _, name := range c.files() {
		if ok, _ := path.Match("checkpoints/step-*.safetensors", name); ok {
			newest = name
		}
	}
	return newest
}
