package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// internals are what a message to a person never says: the program's language, its packages, its temporary files.
var internals = regexp.MustCompile(`goroutine|panic|internal error|strconv|\.go:|\.tmp\b|\bfunc\b|\*|universal-transformer/|github\.com|experiment\.|training\.Config|u?int(32|64)\b|float(32|64)\b|interface|nil\b|EOF|pflag|%!`)

// A hundred mistakes, each one line that says what is wrong in the words of who made it.
func TestMistakes(t *testing.T) {
	folder, run := t.TempDir(), trained(t)
	file := write(t, "file", "hello\n")
	config := func(content string) string { return write(t, "mine.json", content) }
	damaged := copied(t)
	for _, path := range []string{"best.json", "checkpoints"} {
		if err := os.RemoveAll(filepath.Join(damaged, path)); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint := filepath.Join(damaged, "checkpoints", "step-000000020.safetensors")
	if err := os.MkdirAll(filepath.Dir(checkpoint), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(checkpoint, []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string // {…} are replaced
		code int
		says string
	}{
		{"train demo --seed -1", 2, `--seed is "-1": it must be a whole number, not negative`},
		{"train demo --seed 1.5", 2, `--seed is "1.5"`},
		{"train demo --seed 99999999999999999999", 2, "--seed is"},
		{"train demo --set training.steps=1.5", 1, "training.steps cannot be 1.5: it must be a whole number"},
		{"train demo --set training.steps=many", 1, "training.steps cannot be text"},
		{"train demo --set training.steps=null", 1, "training.steps"},
		{"train demo --set training.steps=[]", 1, "training.steps cannot be a list"},
		{"train demo --set training.steps={}", 1, "training.steps cannot be an object"},
		{"train demo --set training.steps=1e99", 1, "training.steps"},
		{"train demo --set training.steps=0", 1, "training.steps is 0"},
		{"train demo --set training.keep=0", 1, "training.keep is 0"},
		{"train demo --set training.clip_norm=-1", 1, "clip_norm"},
		{"train demo --set training.label_smoothing=2", 1, "label_smoothing is 2"},
		{"train demo --set training.schedule.cosine.peak=NaN", 1, "peak cannot be text: it must be a number"},
		{"train demo --set training.schedule.cosine.peak=-1", 1, "peak is -1"},
		{"train demo --set training.schedule=quick", 1, "training.schedule"},
		{"train demo --set training.schedule={}", 1, "training.schedule"},
		{"train demo --set training.batch=5", 1, "training.batch cannot be a number"},
		{"train demo --set training.batch.rows=-1", 1, "training.batch"},
		{"train demo --set model.positions.random_offset.max=2147483648", 1, "max is 2147483648: it must be at most 100000"},
		{"train demo --set model.positions.random_subset.max=9223372036854775807", 1, "max is 9223372036854775807: it must be at most 100000"},
		{"train demo --set training.validation=-1", 1, "training.validation is -1"},
		{"train demo --set training.validation=1000000000", 1, "training.validation is 1000000000: it must be positive and at most 1000000"},
		{"eval {run} --count 1000000000", 2, "count is 1000000000: it must be at most 1000000"},
		{"data sample demo --count 1000000000", 2, "--count is 1000000000: it must be at most 1000000"},
		{"train demo --set training=5", 1, "training cannot be a number"},
		{"train demo --set model.width=9000000000000000000", 1, "width is 9000000000000000000: it must be at most"},
		{"train demo --set model.width=99999999999999999999", 1, "width"},
		{"train demo --set model.width=true", 1, "width cannot be true or false: it must be a whole number"},
		{"train demo --set model.width=0", 1, "width is 0"},
		{"train demo --set model.heads=0", 1, "heads is 0"},
		{"train demo --set model.heads=9000000000000000000", 1, "heads is 9000000000000000000"},
		{"train demo --set model.pre_norm=1", 1, "pre_norm cannot be a number: it must be true or false"},
		{"train demo --set model.transition.feedforward.filter=9000000000000000000", 1, "filter is 9000000000000000000"},
		{"train demo --set model.dropout.attention=1.5", 1, "attention is 1.5"},
		{"train demo --set model.halting=often", 1, "model.halting must be an object"},
		{"train demo --set model.halting.fixed.steps=1001", 1, "steps is 1001: it must be at most 1000"},
		{"train demo --set model.halting.frozen.max_steps=1001", 1, "max_steps is 1001: it must be at most 1000"},
		{"train demo --set model.halting.graves.max_steps=1001", 1, "max_steps is 1001: it must be at most 1000"},
		{"train demo --set model.halting.listing.max_steps=1001", 1, "max_steps is 1001: it must be at most 1000"},
		{"train demo --set model.halting.length.max=1001", 1, "max is 1001: it must be at most 1000"},
		{"train demo --set model.halting.frozen.epsilon=2", 1, "epsilon is 2"},
		{"train demo --set model=big", 1, "model must be an object"},
		{"train demo --set model.halting.frozen=5", 1, "model.halting.frozen"},
		{"train demo --set task.reverse.base=1", 1, "base is 1"},
		{"train demo --set task=reverse", 1, "task must be an object"},
		{"train demo --set task.reverse=5", 1, "task.reverse"},
		{"train demo --set name=5", 1, "name cannot be a number: it must be text"},
		{"train demo --set name=", 1, "name is empty"},
		{"train demo --set seed=-1", 1, "seed cannot be -1"},
		{"train demo --set =5", 1, `"" is not known`},
		{"train demo --set .=5", 1, "is not known"},
		{"train demo --set model..width=5", 1, "is not known"},
		{"train demo --backend gpu", 1, `backend "gpu" is not known: there are cpu, go`},
		{"train demo --out {file}", 1, "{file}"},
		{"train demo --out {file}/run", 1, "{file}"},
		{"train base", 1, "--set task.table.path=pairs.tsv"},
		{"train base --set task.table.path={folder}", 1, "{folder} is a folder"},
		{"train base --set task.table.path=/dev/zero", 1, "/dev/zero is a device"},
		{"train base --set task.table.path={utf16}", 1, "{utf16}: it is UTF-16: convert it to UTF-8"},
		{"train text --set task.text.path=/dev/zero", 1, "/dev/zero is a device"},
		{"train text --set task.text.path={utf16}", 1, "{utf16}: it is UTF-16"},
		{"train text --set task.text.path={folder}", 1, "{folder} is a folder"},
		{"train text --set task.text.path={file}", 1, "{file}"},
		{"train --config {list}", 1, "{list}: JSON: line 1, column 1: cannot be a list: it must be an object"},
		{"train --config {text}", 1, "{text}: JSON"},
		{"train --config {five}", 1, "{five}: JSON: line 1, column 1: cannot be a number"},
		{"train --config {utf16}", 1, "{utf16}: it is UTF-16"},
		{"train --config {folder}", 1, "{folder} is a folder"},
		{"train --config /dev/zero", 1, "/dev/zero is a device"},
		{"train --config {run}/best.json", 1, "best.json"},
		{"train --resume {folder}", 1, "{folder}"},
		{"train --resume {file}", 1, "{file}"},
		{"eval {run} --count x", 2, `--count is "x": it must be a whole number`},
		{"eval {run} --length 0", 2, "--length is 0"},
		{"eval {run} --mix 0", 2, "--mix is 0"},
		{"eval {run} --beam -1", 2, "beam width is -1"},
		{"eval {run} --beam 2 --alpha -1", 2, "alpha is -1"},
		{"eval {run} --beam 2 --alpha NaN", 2, "alpha is NaN"},
		{"eval {run} --data nowhere.tsv", 1, "nowhere.tsv"},
		{"eval {run} --data {folder}", 1, "{folder} is a folder"},
		{"eval {run} --data /dev/zero", 1, "/dev/zero is a device"},
		{"eval {run} --data {utf16}", 1, "{utf16}: it is UTF-16"},
		{"eval {run} --data {file}", 1, "{file}"},
		{"eval {run} --count 2 --errors {folder}", 1, "{folder} is a folder: name a file"},
		{"eval {run} --count 2 --errors {file}/wrong", 1, "{file}/wrong"},
		{"eval {run} --count 2 --errors {folder}/no/wrong", 1, "{folder}/no/wrong cannot be written"},
		{"eval {run} --compute-halted=perhaps", 2, `--compute-halted is "perhaps": it must be true or false`},
		{"eval {folder}", 1, "{folder}"},
		{"eval {file}", 1, "{file}"},
		{"eval {damaged}", 1, "damaged"},
		{"decode {run} --max-length x", 2, `--max-length is "x"`},
		{"decode {run} --max-length 9000000000000000000", 2, "--max-length is 9000000000000000000: it must be at most 1000000"},
		{"decode {run} --max-source -1", 2, "--max-source is -1"},
		{"decode {run} --fixed-steps 1000000", 2, "--fixed-steps is 1000000: it must be at most 1000"},
		{"decode {run} --exit-threshold NaN", 2, "--exit-threshold is NaN"},
		{"decode {run} --sample --temperature Inf", 2, "--temperature is +Inf"},
		{"decode {run} --sample --seed -1", 2, `--seed is "-1"`},
		{"decode {run} --beam 1000000000", 2, "beam width is 1000000000"},
		{"decode {damaged}", 1, "damaged"},
		{"answer {run}", 1, "use ut decode"},
		{"answer {run} --facts -1", 2, "--facts is -1"},
		{"trace {run} --input 12 --out {folder}", 1, "{folder} is a folder: name a file"},
		{"trace {run} --input 12 --out {folder}/no/page.html", 1, "{folder}/no/page.html cannot be written"},
		{"trace {run} --figure x", 2, `--figure is "x"`},
		{"trace {run} --figure 6", 1, "--figure 6 is a story"},
		{"trace {run} --input {long}", 1, "more than a trace can have, 1000"},
		{"data sample demo --count 0", 2, "--count is 0"},
		{"data sample demo --split tests", 2, `--split is "tests"`},
		{"data sample demo --seed -1", 2, `--seed is "-1"`},
		{"data sample nowhere", 1, `"nowhere"`},
		{"data sample base", 1, "--set task.table.path=pairs.tsv"},
		{"data babi --dir {file} --from http://127.0.0.1:1/x", 1, "could not be fetched"},
		{"bench train --batch 0", 2, "--batch is 0: it must be at least 1"},
		{"bench train --width 9000000000000000000", 2, "--width is 9000000000000000000"},
		{"bench train --heads 3", 1, "heads is 3"},
		{"bench train --vocabulary 2", 1, "vocabulary is 2"},
		{"bench train --repeat 0", 2, "--repeat is 0"},
		{"bench train --threads -1", 2, "--threads -1"},
		{"bench everything", 1, `"everything"`},
		{"report --results {folder}/no", 1, "{folder}/no"},
		{"report --results {runs}", 1, "a folder of runs, not of results"},
		{"report --results {folder} --out {folder}", 1, "{folder} is a folder: name a file"},
		{"bleu {file}", 2, "ut bleu --help"},
		{"bleu {folder} {file}", 1, "{folder} is a folder"},
		{"bleu /dev/zero {file}", 1, "/dev/zero is a device"},
		{"bleu {utf16} {file}", 1, "UTF-16"},
		{"tokenizer train {utf16} --out {folder}/t.json", 1, "{utf16}: it is UTF-16"},
		{"tokenizer train {file} --out {folder}", 1, "{folder} is a folder"},
		{"tokenizer encode {utf16}", 1, "UTF-16"},
		{"tokenizer encode /dev/zero", 1, "/dev/zero is a device"},
		{"tokenizer encode {list}", 1, "{list}"},
		{"experiment run nothing", 2, `"nothing"`},
		{"show nothing", 1, `"nothing"`},
		{"export {folder}", 1, "{folder}"},
		{"export {damaged}", 1, "damaged"},
	} {
		places := strings.NewReplacer("{folder}", folder, "{file}", file, "{run}", run, "{runs}", filepath.Dir(run), "{damaged}", damaged,
			"{list}", config("[]"), "{text}", config("text"), "{five}", config("5"), "{utf16}", config("\xff\xfe{\x00}\x00"), "{long}", strings.Repeat("1", 1001))
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			r := utReading(t, "1\n", strings.Fields(places.Replace(c.args))...)
			if damages := strings.Contains(c.args, "{damaged}"); damages { // what was passed over comes first
				if n := strings.Count(r.stderr, "damaged"); n > strings.Count(r.stderr, "\n") {
					t.Errorf("damaged is said %d times: %s", n, r.stderr)
				}
			} else if strings.HasPrefix(c.args, "data babi") {
				r.stderr = r.stderr[strings.LastIndex(strings.TrimSuffix(r.stderr, "\n"), "\n")+1:]
			}
			checkFailure(t, r, c.code, places.Replace(c.says))
			said := r.stderr
			for _, place := range []string{folder, file, run, damaged} {
				said = strings.ReplaceAll(said, place, "")
			}
			if found := internals.FindString(said); found != "" {
				t.Errorf("says %q: %s", found, r.stderr)
			}
		})
	}
}
