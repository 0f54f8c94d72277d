package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every user error is one line on the standard error that names the problem and, if possible, the fix.
func TestErrorsAreOneLine(t *testing.T) {
	file := write(t, "file", "")
	config := func(content string) string { return write(t, "mine.json", content) }
	table := func(content string) []string {
		return []string{"train", "own-pairs", "--set", "task.table.path=" + write(t, "pairs.tsv", content)}
	}
	demo := func(more ...string) []string { return append([]string{"train", "demo"}, more...) }
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"unknown command", []string{"trian", "demo"}, 2, []string{`"trian"`, `did you mean "train"?`}},
		{"unknown command after a flag", []string{"evl", "--json"}, 2, []string{`did you mean "eval"?`}},
		{"unknown command, nothing near", []string{"xyzzy"}, 2, []string{`"xyzzy"`, "ut --help"}},
		{"unknown flag", []string{"train", "demo", "--sed", "3"}, 2, []string{"--sed", "did you mean --seed?"}},
		{"flag without value", []string{"train", "demo", "--seed"}, 2, []string{"--seed"}},
		{"flag that is no number", []string{"eval", "run", "--count", "ten"}, 2, []string{"--count", `"ten"`}},
		{"argument missing", []string{"eval"}, 2, []string{"RUN is missing", "ut eval --help"}},
		{"argument too many", []string{"show", "demo", "copy"}, 2, []string{`"copy"`}},
		{"nothing to train", []string{"train"}, 2, []string{"RECIPE", "--config", "--resume"}},
		{"two things to train", []string{"train", "demo", "--config", file}, 2, []string{`"demo"`, "--config"}},
		{"resume with another configuration", []string{"train", "--resume", "run", "--seed", "2"}, 2, []string{"--seed", "--resume"}},
		{"length and mix", []string{"eval", "run", "--length", "3", "--mix", "3"}, 2, []string{"length", "mix"}},
		{"negative length", []string{"eval", "run", "--length", "-3"}, 2, []string{"--length is -3"}},
		{"negative count", []string{"eval", "run", "--count", "-3"}, 2, []string{"count is -3"}},
		{"beam of no width", []string{"decode", "run", "--beam", "0"}, 2, []string{"--beam is 0: it must be from 1 to 1000"}},
		{"alpha without beam", []string{"decode", "run", "--alpha", "1"}, 2, []string{"--beam"}},
		{"teacher-forced diagnosis", []string{"eval", "run", "--teacher-forced", "--diagnose"}, 2, []string{"--diagnose"}},
		{"teacher-forced beam", []string{"eval", "run", "--teacher-forced", "--beam", "2"}, 2, []string{"--beam"}},
		{"trace without input", []string{"trace", "run"}, 2, []string{"--input"}},
		{"trace as two things", []string{"trace", "run", "--input", "1", "--json", "--text"}, 2, []string{"--json", "--text"}},

		{"name of an earlier version", []string{"train", "execute-control"}, 1, []string{"recipe execute-control is now called programs/control"}},
		{"unknown recipe", []string{"train", "revers"}, 1, []string{`"revers"`, `did you mean "algorithmic/reverse"?`}},
		{"unknown key", demo("--set", "model.widht=8"), 1, []string{`did you mean "model.width"?`}},
		{"unknown variant", demo("--set", "model.halting.fxed.steps=2"), 1, []string{"model.halting.fxed.steps", "not known"}},
		{"value of another type", demo("--set", "model.width=wide"), 1, []string{"model.width=wide", "width"}},
		{"no assignment", demo("--set", "model.width"), 1, []string{"path=value"}},
		{"negative width", demo("--set", "model.width=-64"), 1, []string{"model.encoder_decoder.width is -64"}},
		{"negative filter", demo("--set", "model.transition.feedforward.filter=-1"), 1, []string{"filter", "-1"}},
		{"negative steps", demo("--set", "training.steps=-5"), 1, []string{"training.steps is -5"}},
		{"negative batch", demo("--set", "training.batch.tokens=-5"), 1, []string{"training.batch", "-5"}},
		{"boundary beyond all use", demo("--set", "training.batch.boundaries=[9223372036854775807]"), 1, []string{"training.batch", "9223372036854775807", "at most"}},
		{"rows beyond all use", demo("--set", "training.batch.rows=9223372036854775807"), 1, []string{"training.batch", "rows is 9223372036854775807"}},
		{"tokens beyond all use", demo("--set", "training.batch.tokens=9223372036854775807"), 1, []string{"training.batch", "tokens is 9223372036854775807"}},
		{"windows beyond all use", demo("--out", filepath.Join(t.TempDir(), "run"), "--set", "training.batch.rows=1000000"), 1, []string{"256000000 examples would be sorted together"}},
		{"resume with what cannot change", []string{"train", "--resume", trained(t), "--set", "model.width=16"}, 1, []string{"model.width cannot change", "training.steps"}},
		{"negative length of a task", demo("--set", "task.reverse.max_length=-5"), 1, []string{"max_length", "-5"}},
		{"heads that do not divide", demo("--set", "model.heads=3"), 1, []string{"model.encoder_decoder.heads is 3", "width 64"}},
		{"unknown backend", demo("--backend", "gpuu"), 1, []string{`"gpuu"`, "go"}},
		{"configuration that is not there", []string{"train", "--config", "nowhere.json"}, 1, []string{"nowhere.json"}},
		{"empty configuration", []string{"train", "--config", config("")}, 1, []string{"mine.json", "no value"}},
		{"broken configuration", []string{"train", "--config", config("{\n \"name\": ]\n}")}, 1, []string{"mine.json", "line 2, column 10"}},
		{"unknown key of a configuration", []string{"train", "--config", config(`{"task": {"copy": {"base": 10}}, "modle": {}}`)}, 1, []string{"mine.json", `did you mean "model"?`}},
		{"configuration of another type", []string{"train", "--config", config(`{"task": {"copy": {}}, "model": {"encoder_decoder": {"width": "8"}}}`)}, 1, []string{"mine.json", "model.encoder_decoder", "width"}},
		{"configuration without task", []string{"train", "--config", config("{}")}, 1, []string{"mine.json", "task is missing"}},
		{"table that is not there", []string{"train", "own-pairs", "--set", "task.table.path=nowhere.tsv"}, 1, []string{"nowhere.tsv"}},
		{"empty table", table(""), 1, []string{"pairs.tsv is empty"}},
		{"table without pairs", table("one\ntwo\nthree\n"), 1, []string{"pairs.tsv:1", "no tab"}},
		{"directory that cannot be written", demo("--out", filepath.Join(file, "run")), 1, []string{file}},
		{"directory with something else", demo("--out", filepath.Dir(file)), 1, []string{filepath.Dir(file), "not empty"}},
		{"directory with a run", demo("--out", trained(t)), 1, []string{trained(t), "already holds a run", "--resume", "--out"}},
		{"resuming nothing", []string{"train", "--resume", "nowhere"}, 1, []string{"nowhere", "not a run directory"}},
		{"evaluating nothing", []string{"eval", "nowhere"}, 1, []string{"nowhere", "not a run directory"}},
		{"evaluating what is not trained yet", []string{"eval", untrained(t)}, 1, []string{"no checkpoint", "resume"}},
		{"trace of unknown tokens", []string{"trace", trained(t), "--input", "12x"}, 1, []string{"--input", `"x"`, "position 3"}},
		{"trace of nothing", []string{"trace", trained(t), "--input", ""}, 1, []string{"--input", "empty"}},
		{"trace to nowhere", []string{"trace", trained(t), "--input", "12", "--out", filepath.Join(file, "page.html")}, 1, []string{file}},
		{"trace of a story without stories", []string{"trace", trained(t), "--figure", "6"}, 1, []string{"--figure 6", "trained on reverse", "--input"}},
		{"report of runs", []string{"table", "report", "--results", filepath.Dir(trained(t))}, 1, []string{"folder of run directories, not of results"}},
		{"demo where another run is", []string{"demo", "--out", renamed(t)}, 1, []string{`"mine"`, "--out"}},
		{"demo where other files are", []string{"demo", "--out", withFile(t)}, 1, []string{"holds a run that this command did not write", "--out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFailure(t, ut(t, c.args...), c.code, c.says...)
		})
	}
}

// checkFailure checks the exit code and that the single line on the standard error contains some texts.
func checkFailure(t *testing.T, r result, code int, says ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if !strings.HasPrefix(r.stderr, "ut: ") || strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("not one line that begins with \"ut: \":\n%s", r.stderr)
	}
	for _, s := range says {
		if !strings.Contains(r.stderr, s) {
			t.Errorf("does not say %q: %s", s, r.stderr)
		}
	}
	for _, s := range []string{"goroutine", ".go:", "panic"} {
		if strings.Contains(r.stderr, s) {
			t.Errorf("says %q: %s", s, r.stderr)
		}
	}
}

// untrained returns a copy of the trained run without checkpoints.
func untrained(t *testing.T) string {
	dir := copied(t)
	for _, name := range []string{"checkpoints", "best.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// renamed returns a copy of the trained run under a name that is not demo.
func renamed(t *testing.T) string {
	dir := copied(t)
	replace(t, filepath.Join(dir, "config.json"), `"name": "demo"`, `"name": "mine"`)
	return dir
}

// withFile returns a copy of the trained run with a foreign file.
func withFile(t *testing.T) string {
	dir := copied(t)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every command that needs the weights rejects a run whose configuration was edited or that has the checkpoint of another model.
func TestRunsThatDoNotFit(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	succeeds(t, append([]string{"train", "demo", "--out", other}, tiny("model.width=12")...)...)
	edited := copied(t)
	replace(t, filepath.Join(edited, "config.json"), `"width": 8`, `"width": 16`)
	sameShapes := copied(t)
	replace(t, filepath.Join(sameShapes, "config.json"), `"heads": 2`, `"heads": 4`)
	mixed := copied(t)
	if err := os.RemoveAll(filepath.Join(mixed, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(mixed, "checkpoints"), os.DirFS(filepath.Join(other, "checkpoints"))); err != nil {
		t.Fatal(err)
	}
	unknownKey := copied(t)
	replace(t, filepath.Join(unknownKey, "config.json"), `"width"`, `"widht"`)
	for name, c := range map[string]struct {
		dir  string
		says []string
	}{
		"another configuration": {edited, []string{edited, "update 20", "[8 8]", "config.json describes [16 16]"}},
		"same shapes":           {sameShapes, []string{sameShapes, "update 20", "another config.json"}},
		"another checkpoint":    {mixed, []string{mixed, "update 20", "[12 12]", "config.json describes [8 8]"}},
		"unknown key":           {unknownKey, []string{filepath.Join(unknownKey, "config.json"), `did you mean "width"?`}},
	} {
		for command, args := range map[string][]string{
			"eval": {"eval", c.dir}, "decode": {"decode", c.dir}, "trace": {"trace", c.dir, "--input", "12"},
			"export": {"export", c.dir}, "resume": {"train", "--resume", c.dir},
		} {
			t.Run(name+"/"+command, func(t *testing.T) { checkFailure(t, ut(t, args...), 1, c.says...) })
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                           "plain",
		"\n\n  first \nsecond":            "first",
		"cause\ngoroutine 1 [running]:\n": "cause",
		"":                                "failed for an unknown reason",
	} {
		if got := oneLine(errors.New(text)); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
}
