package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An output that is a file that the command reads, also through links, or a file of a run is refused, and nothing is written.
// Caught when planted: the data of the run's configuration, and the second of two parallel files, that are not compared; a run's files that
// are no one's.
func TestOutputsThatWouldDestroyInputs(t *testing.T) {
	dir := t.TempDir()
	data, other := filepath.Join(dir, "pairs.tsv"), filepath.Join(dir, "other.tsv")
	var lines strings.Builder
	for _, word := range []string{"one", "two", "three", "four", "five"} {
		for _, with := range strings.Fields("a b c d e f g h i j k l") {
			lines.WriteString(word + " " + with + "\t" + with + "\n")
		}
	}
	for _, path := range []string{data, other, filepath.Join(dir, "x.gold"), filepath.Join(dir, "x.text")} {
		if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	run := quickRun(t, "pairs", "own-pairs", "task.path="+data, "training.batch.boundaries=[15]")
	sweep := filepath.Join(dir, "grid.json")
	if err := os.WriteFile(sweep, []byte(`{"name": "g", "base": "own-pairs", "set": ["task.path=`+filepath.Join(dir, "index.html")+`"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(run, "config.json")
	for _, c := range []struct {
		args, want string
	}{
		{"eval {run} --data {other} --errors {other}", "ut: --errors {other} would overwrite {other}, which the command reads: name another file"},
		{"eval {run} --data {other} --errors {link}", "ut: --errors {link} would overwrite {other}, which the command reads: name another file"},
		{"eval {run} --data {link} --errors {dir}/./other.tsv", "would overwrite {link}, which the command reads"},
		{"eval {run} --data {dir}/x.text --errors {dir}/x.gold", "would overwrite {dir}/x.gold, which the command reads"},
		{"eval {run} --data {data},{other} --errors {other}", "would overwrite {other}, which the command reads"},
		{"eval {run} --errors {data}", "would overwrite {data}, on which {run} was trained"},
		{"eval {run} --set task.path={other} --errors {other}", "would overwrite {other}, on which {run} was trained"},
		{"eval {run} --errors {config}", "ut: --errors {config} would overwrite a file of the run {run}: name another file"},
		{"eval {run} --errors {run}/changes.json", "would overwrite a file of the run {run}"},
		{"depth {run} --data {other} --svg {other}", "ut: --svg {other} would overwrite {other}, which the command reads"},
		{"depth {run} --svg {run}/checkpoints/x", "would overwrite a file of the run {run}"},
		{"compare {run} {copy} --data {other} --out {other}", "ut: --out {other} would overwrite {other}, which the command reads"},
		{"compare {run} {copy} --curves --out {data}", "was trained"},
		{"trace {run} --input a --out {data}", "ut: --out {data} would overwrite {data}, on which {run} was trained"},
		{"tokenizer train {other} --out {link}", "ut: --out {link} would overwrite {other}, a file to train on"},
		{"tokenizer train {other} --out {run}/tokenizer.json", "would overwrite a file of the run {run}"},
		{"sweep {sweep} --out {dir}", "{dir}/index.html would overwrite {dir}/index.html, on which"},
	} {
		fill := strings.NewReplacer("{run}", run, "{data}", data, "{other}", other, "{link}", link, "{dir}", dir, "{config}", config, "{copy}", copied(t), "{sweep}", sweep).Replace
		checkFailure(t, ut(t, strings.Fields(fill(c.args))...), 2, fill(c.want))
	}
	for _, path := range []string{data, other, filepath.Join(dir, "x.gold"), filepath.Join(dir, "index.html")} {
		if content, err := os.ReadFile(path); err != nil || string(content) != lines.String() {
			t.Errorf("%s has %d bytes, %v", path, len(content), err)
		}
	}
	wrong := filepath.Join(run, "wrong.tsv") // neither data nor a file of the run, so it may be written twice
	for range 2 {
		succeeds(t, "eval", run, "--data", other, "--errors", wrong)
	}
}

// An export replaces an earlier one, and no other files. Caught when planted: weights that are not looked at, the run's
// own export that is refused.
func TestExportSparesForeignFiles(t *testing.T) {
	run, dir := trained(t), t.TempDir()
	for name, content := range map[string]string{"config.json": `{"model": "mine", "version": "1", "task": 1, "training": 2}`, "model.safetensors": "mine"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		checkFailure(t, ut(t, "export", run, "--out", dir), 1, path+" was not written by an export, which would overwrite it: name another folder")
		if now, err := os.ReadFile(path); err != nil || string(now) != content {
			t.Errorf("%s is %q, %v", path, now, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		succeeds(t, "export", run, "--out", dir)
	}
	own := copied(t)
	succeeds(t, "export", own, "--out", filepath.Join(own, "export"))
}

// The file of a flag is the standard output for -, where results then go to the standard error; other flags for files and folders refuse
// it.
// Caught when planted: results on the standard output, JSON beside the wrong answers, a folder of that name.
func TestStandardOutput(t *testing.T) {
	run, text := trained(t), write(t, "text", "a b a b a b\n")
	for _, c := range []struct {
		args           []string
		stdout, stderr string
	}{
		{[]string{"eval", run, "--count", "20", "--errors", "-"}, "\t", "sequence accuracy"},
		{[]string{"depth", run, "--count", "4", "--rules", "fixed", "--steps", "1", "--svg", "-"}, "<svg", "as trained"},
		{[]string{"compare", run, copied(t), "--curves", "--out", "-"}, "<!", ""},
		{[]string{"trace", run, "--input", "12", "--out", "-"}, "<!", ""},
		{[]string{"tokenizer", "train", text, "--size", "258", "--out", "-"}, "{", "the vocabulary: 258 tokens from 1 line"},
	} {
		r := ut(t, c.args...)
		if r.code != 0 || !strings.Contains(r.stdout[:min(len(r.stdout), 100)], c.stdout) || !strings.Contains(r.stderr, c.stderr) || c.stderr != "" && strings.Contains(r.stdout, c.stderr+"\n") {
			t.Errorf("%v: code %d, %.200q, %q", c.args, r.code, r.stdout, r.stderr)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"eval " + run + " --errors - --json", "--errors - and --json are both given"},
		{"depth " + run + " --svg - --json", "--svg - and --json are both given"},
		{"eval " + run + " --data -", "--data is -, which cannot be the standard input or output here: a file of that name is ./-"},
		{"export " + run + " --out -", "--out is -, which cannot be the standard input or output here: a folder of that name is ./-"},
		{"train demo --out -", "a directory of that name is ./-"},
		{"table report --out -", "a file of that name is ./-"},
		{"sweep x --out -", "a folder of that name is ./-"},
	} {
		checkFailure(t, ut(t, strings.Fields(c.args)...), 2, c.want)
	}
}
