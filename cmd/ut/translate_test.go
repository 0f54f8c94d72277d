package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// translator creates parallel files, trains on them briefly, and returns the run and the folder of the files.
func translator(t *testing.T) (run, dir string) {
	t.Helper()
	dir = t.TempDir()
	names := strings.Fields("zero one two three four five six seven eight nine")
	var source, target strings.Builder
	for i := range 1200 {
		for _, d := range fmt.Sprint(i) {
			source.WriteString(names[d-'0'] + " ")
		}
		fmt.Fprintf(&source, "%s!\n", strings.Repeat("so", i%3))
		fmt.Fprintf(&target, "%d\n", i)
	}
	for name, content := range map[string]string{"a.en": source.String() + "\n", "a.de": target.String() + "rest\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := write(t, "own.json", fmt.Sprintf(`{
		"name": "own",
		"task": {"translation": {"training": [{"source": %q, "target": %q}], "held_out": 0.1, "tokenizer_size": 290}},
		"model": {"encoder_decoder": {"width": 16, "heads": 2, "shared_embedding": true, "tied_readout": true, "transition": {"feedforward": {"filter": 32}}, "halting": {"fixed": {"steps": 1}}}},
		"training": {"steps": 40, "evaluate_every": 20, "decoded": 20, "best_by_measure": true, "batch": {"tokens": 512, "boundaries": [40]}}
	}`, filepath.Join(dir, "a.en"), filepath.Join(dir, "a.de")))
	run = filepath.Join(dir, "run")
	r := ut(t, "train", "--config", config, "--out", run)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	for _, want := range []string{"skipped 1: 1 with an empty side", ":1201: the source is empty", "in 290 subwords", "; decoded answers: BLEU "} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("training does not say %q:\n%s", want, r.stderr)
		}
	}
	return run, dir
}

// From two files to translations: every line has its answer in its place, including empty and bad lines, independent of the other lines. BLEU
// of the output equals that of ut eval.
// Caught when planted: a bad line left out.
func TestTranslate(t *testing.T) {
	run, dir := translator(t)
	var sources, references strings.Builder
	for i := range 90 {
		fmt.Fprintf(&sources, "%sone%d\n", strings.Repeat("two ", i*7%11), i)
		fmt.Fprintf(&references, "%d 2 3 4\n", i)
	}
	for name, content := range map[string]string{"test.en": sources.String(), "test.de": references.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := utReading(t, sources.String(), "translate", run, "--beam", "2", "--max-length", "9")
	together := strings.Split(r.stdout, "\n")
	if r.code != 0 || len(together) != 91 {
		t.Fatalf("%d lines, exit code %d: %s", len(together)-1, r.code, r.stderr)
	}
	for _, i := range []int{0, 33, 89} {
		line := strings.Split(sources.String(), "\n")[i]
		if alone := utReading(t, line+"\n", "translate", run, "--beam", "2", "--max-length", "9"); alone.stdout != together[i]+"\n" {
			t.Errorf("line %d is %q alone and %q among others", i+1, alone.stdout, together[i])
		}
	}
	r = utReading(t, "one!\n\n \ntwo \xff\ntwo!\n"+strings.Repeat("x ", 1200)+"\none!", "translate", run, "--beam", "1", "--max-length", "5")
	lines := strings.Split(r.stdout, "\n")
	if r.code != 1 || len(lines) != 8 || lines[0] == "" || lines[0] != lines[6] || lines[1]+lines[2]+lines[3]+lines[5] != "" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.stderr, "ut: line 4: not valid UTF-8 at byte 5\n") || !strings.Contains(r.stderr, "ut: line 6: ") || !strings.Contains(r.stderr, "2 of 7 lines could not be answered") {
		t.Errorf("%s", r.stderr)
	}

	out := write(t, "out", utReading(t, sources.String(), "translate", run, "--beam", "2").stdout)
	var scored struct{ Score float64 }
	if err := json.Unmarshal([]byte(succeeds(t, "bleu", out, filepath.Join(dir, "test.de"), "--json")), &scored); err != nil {
		t.Fatal(err)
	}
	var evaluated struct {
		Examples int
		Metrics  []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal([]byte(succeeds(t, "eval", run, "--beam", "2", "--json", "--data", filepath.Join(dir, "test.en")+","+filepath.Join(dir, "test.de"))), &evaluated); err != nil {
		t.Fatal(err)
	}
	if m := evaluated.Metrics[0]; m.Name != "BLEU" || math.Abs(m.Value-scored.Score) > 1e-9 || evaluated.Examples != 90 {
		t.Errorf("eval has %+v, bleu of what translate wrote %v", evaluated, scored.Score)
	}
	checkTokenizerIsSealed(t, run)
}

// checkTokenizerIsSealed modifies the tokenizer of a run in ways that do not show, and removes it.
func checkTokenizerIsSealed(t *testing.T, run string) {
	path := filepath.Join(run, "tokenizer.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFailure(t, utReading(t, "one\n", "translate", run), 1, "tokenizer.json has changed since training")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := ut(t, "train", "--resume", run, "--set", "training.steps=50"); r.code != 1 || !strings.Contains(r.stderr, "ut: tokenizer.json is missing: restore it\n") {
		t.Errorf("%+v", r)
	}
}

func TestTranslationMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.en": "one\ntwo\n", "a.de": "eins\n", "wide": "\xff\xfeo\x00", "torn.tar.gz": "\x1f\x8b\x08\x00\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	training := func(source, target string) string {
		return fmt.Sprintf(`task.training=[{"source": %q, "target": %q}]`, filepath.Join(dir, source), filepath.Join(dir, target))
	}
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"train", "own-translation", "--set", training("a.en", "a.de")}, "line 2 of "},
		{[]string{"train", "own-translation", "--set", training("a.en", "none")}, "none: no such file or directory: set task.translation.training to the location of the data, as in --set task.translation.training='[{\"source\": \"FILE\", \"target\": \"FILE\"}]'"},
		{[]string{"train", "--source", filepath.Join(dir, "none"), "--target", filepath.Join(dir, "a.de")}, "none: no such file or directory: name the files with --source and --target"},
		{[]string{"train", "translation/multi30k", "--source", filepath.Join(dir, "a.en"), "--target", filepath.Join(dir, "a.de")}, "line 2 of "},
		{[]string{"train", "--source", "a.en", "--target", "a.de", "--set", training("a.en", "a.de")}, "--source and task.training are both given: leave one of them out"},
		{[]string{"train", "--source", filepath.Join(dir, "wide"), "--target", filepath.Join(dir, "wide")}, "iconv -f UTF-16 -t UTF-8 < " + filepath.Join(dir, "wide") + " > "},
		{[]string{"train", "own-pairs", "--set", "task.path=~/none"}, "as in --set task.table.path=FILE, with $HOME in place of ~"},
		{[]string{"train", "--source", filepath.Join(dir, "a.en"), "--target", filepath.Join(dir, "a.de")}, "line 2 of "},
		{[]string{"train", "--source", "a.en"}, "--source is given without --target"},
		{[]string{"train", "--target", "a.de"}, "--target is given without --source"},
		{[]string{"train", "own-pairs", "--source", "a.en", "--target", "a.de"}, "leave out own-pairs"},
		{[]string{"train", "--config", "x.json", "--source", "a.en", "--target", "a.de"}, "--source and --config are both given"},
		{[]string{"train", "own-translation", "--set", training("wide", "wide")}, "it is UTF-16"},
		{[]string{"train", "own-translation", "--set", "task.training=[]"}, "task.translation.training is empty"},
		{[]string{"train", "own-translation", "--set", `task.training=[{"sorce": "x"}]`}, "sorce"},
		{[]string{"train", "own-translation", "--set", "task.bleu=14b"}, "14b"},
		{[]string{"train", "own-translation", "--set", "task.tokenizer_size=3"}, "task.translation.tokenizer_size is 3"},
		{[]string{"train", "translation/multi30k", "--set", "task.path=" + filepath.Join(dir, "torn.tar.gz")}, "torn.tar.gz"},
		{[]string{"train", "translation/multi30k", "--set", "task.path=" + filepath.Join(dir, "none")}, "none: no such file"},
		{[]string{"train", "own-translation", "--set", "training.decoded=-1"}, "training.decoded is -1"},
		{[]string{"train", "own-translation", "--set", "training.decoded=0"}, "training.best_by_measure is true, but no answers are measured"},
		{[]string{"train", "own-text", "--set", "training.decoded=9"}, "training.decoded is 9"},
		{[]string{"train", "own-text", "--set", "task.tokenizer_file=x"}, "set task.tokenizer=subwords"},
		{[]string{"train", "own-translation", "--set", training("a.en", "a.en"), "--set", "task.tokenizer_size=0", "--set", "task.tokenizer_file=" + filepath.Join(dir, "none.json")}, "none.json\" does not exist"},
		{[]string{"translate"}, "RUN is missing"},
		{[]string{"translate", dir}, "is not a run directory"},
		{[]string{"translate", dir, "--beam", "0"}, "--beam is 0: it must be from 1 to 1000"},
		{[]string{"translate", dir, "--max-source", "0"}, "--max-source is 0"},
		{[]string{"translate", dir, "--max-length", "-2"}, "--max-length is -2: give 1 to"},
	} {
		r := ut(t, append(c.arguments, map[bool][]string{true: {"--out", filepath.Join(dir, "run")}}[c.arguments[0] == "train"]...)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, want %q in one line", c.arguments, r.code, r.stderr, c.want)
		}
	}
}
