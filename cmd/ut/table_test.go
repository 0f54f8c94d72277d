package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From a configuration to answers, on a user's file of 5,000 lines, some of which are not pairs.
func TestOwnTable(t *testing.T) {
	dir := t.TempDir()
	var content strings.Builder
	words := strings.Fields("zero one two three four five six seven eight nine")
	for i := range 5000 {
		switch i {
		case 41:
			content.WriteString("no tab here\n")
		case 1233:
			content.WriteString("\tno source\n")
		default:
			fmt.Fprintf(&content, "%s %s %s\t%s\n", words[i%10], words[i/10%10], words[i/100%10], words[i%10])
		}
	}
	pairs := filepath.Join(dir, "pairs.tsv")
	if err := os.WriteFile(pairs, []byte(content.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	config := write(t, "table.json", fmt.Sprintf(`{
		"name": "pairs",
		"task": {"table": {"path": %q, "tokenizer": "whitespace"}},
		"model": {"encoder_decoder": {"width": 16, "heads": 2, "transition": {"feedforward": {"filter": 32}}, "halting": {"fixed": {"steps": 1}}}},
		"training": {"steps": 30, "evaluate_every": 15, "validation": 50}
	}`, pairs))
	run := filepath.Join(dir, "run")
	r := ut(t, "train", "--config", config, "--out", run)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	for _, want := range []string{"5000 lines, 4998 usable, 2 malformed", pairs + ":42: ", pairs + ":1234: ", "validation at update"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("training does not say %q:\n%s", want, r.stderr)
		}
	}
	if got := succeeds(t, "eval", run, "--count", "20"); !strings.Contains(got, "table, lengths as in training, 20 examples, greedy decoding") {
		t.Errorf("evaluation says %s", got)
	}
	checkFailure(t, ut(t, "eval", run, "--length", "3"), 1, "length is 3", "are those of its files")
	checkFailure(t, ut(t, "eval", run, "--mix", "3"), 1, "--mix is 3", "are those of its files")
	checkFailure(t, ut(t, "data", "sample", run, "--split", "test", "--length", "3"), 1, "length is 3", "are those of its files")
	for _, command := range []string{"decode", "translate"} {
		r = utReading(t, "one two three\nfour and five\na b c d e f\n", command, run)
		want := "ut: line 2: 1 unknown token is read as <unknown>: \"and\"\n" +
			"ut: line 3: 6 unknown tokens are read as <unknown>: \"a\", \"b\", \"c\", \"d\", \"e\", and 1 more\n"
		if r.code != 0 || strings.Count(r.stdout, "\n") != 3 || r.stderr != want {
			t.Errorf("%s gives %+v, want %q", command, r, want)
		}
		long := strings.Repeat("one ", 61) + "\n" // sources of training have three words
		if r = utReading(t, "one\n"+long+long, command, run, "--max-length", "2"); r.code != 0 ||
			strings.Count(r.stderr, "tokens, more than twice as many as the longest source of training, 3: ") != 1 || !strings.HasPrefix(r.stderr, "ut: line 2: it has 61 tokens") {
			t.Errorf("%s of long lines gives %.300s, %d", command, r.stderr, r.code)
		}
	}
}
