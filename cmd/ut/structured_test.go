package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// copierRun returns the directory of a model that copies up to four digits.
func copierRun(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../pipeline/testdata/copier")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// answersOf decodes the lines of JSON that a command writes.
func answersOf(t *testing.T, input string, args ...string) (list []answerJSON) {
	t.Helper()
	r := utReading(t, input, args...)
	lines := bufio.NewScanner(strings.NewReader(r.stdout))
	for lines.Scan() {
		var a answerJSON
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		if decoder.DisallowUnknownFields(); !strings.Contains(lines.Text(), `"error":`) {
			if err := decoder.Decode(&a); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
		}
		list = append(list, a)
	}
	return list
}

// The log-probabilities of the n best answers are those of ut score, with and without exits; the text form has the same answers, and the
// first is what decoding without --n-best writes.
// Caught when planted: the score for the log-probability; an exit that only one of the two applies; answers of another line.
func TestAnswersAgreeWithScore(t *testing.T) {
	const input = "1234\n71\n9\n"
	copier := copierRun(t)
	for _, exit := range [][]string{nil, {"--exit-threshold", "0.9"}, {"--exit-confidence", "0.9"}} {
		for _, command := range []string{"decode", "translate"} {
			args := append([]string{command, copier, "--beam", "5", "--max-length", "8"}, exit...)
			answers := answersOf(t, input, append(args, "--n-best", "4", "--json")...)
			if len(answers) != 3 {
				t.Fatalf("%v: %d answers", args, len(answers))
			}
			plain := strings.Split(utReading(t, input, args...).stdout, "\n")
			text := utReading(t, input, append(args, "--n-best", "4")...).stdout
			for i, a := range answers {
				source := strings.Fields(input)[i]
				if a.Answer != plain[i] || a.NBest[0].Answer != a.Answer || a.NBest[0].LogProb != a.LogProb || len(a.NBest) != 4 || a.Line != i+1 {
					t.Errorf("%v: %+v, without --n-best %q", args, a, plain[i])
				}
				var line strings.Builder
				line.WriteString(source)
				a.NBest = slices.DeleteFunc(a.NBest, func(b rankedJSON) bool { return b.Answer == "" }) // which ut score refuses
				for _, b := range a.NBest {
					line.WriteString("\t" + b.Answer)
					if want := fmt.Sprintf("%d\t%.6f\t%s\n", i+1, b.LogProb, b.Answer); !strings.Contains(text, want) {
						t.Errorf("%v: %q is not in %q", args, want, text)
					}
				}
				printed := utReading(t, line.String()+"\n", append([]string{"score", copier}, exit...)...).stdout
				for k, field := range strings.Split(strings.TrimSpace(printed), "\t") {
					want, err := strconv.ParseFloat(field, 64)
					if got := a.NBest[k]; err != nil || got.Finished && math.Abs(got.LogProb-want) > 1e-5*max(1, -want)+1e-6 { // score prints six decimals
						t.Errorf("%v, %s: ln p of %q is %v, ut score prints %q", args, source, got.Answer, got.LogProb, field)
					}
				}
			}
		}
	}
}

// The fields of JSON answers are those that the help lists; skipped lines are objects, too, and keep their numbers.
func TestAnswersAsJSON(t *testing.T) {
	const input = "12\nx\n3\n"
	copier := copierRun(t)
	for _, command := range []string{"decode", "translate"} {
		args := []string{command, copier, "--json", "--exit-unchanged", "1"}
		lines := strings.Split(strings.TrimSpace(utReading(t, input, args...).stdout), "\n")
		if len(lines) != 3 || lines[1] != `{"line":2,"error":"unknown token \"x\" at position 1 (counted from 1)"}` {
			t.Fatalf("%v: %q", args, lines)
		}
		help := succeeds(t, command, "--help")
		for _, field := range fields(t, []byte(lines[0])) {
			if !strings.Contains(help, field) {
				t.Errorf("the help of %s does not say what %q is", command, field)
			}
		}
		for i, a := range answersOf(t, input, args...) {
			if i == 1 {
				continue
			}
			if a.Line != i+1 || a.Exit != "answer unchanged for 1 step" || len(a.SourceSteps) != len(a.Source) || len(a.TargetSteps) != len(a.Target) ||
				len(a.Alignment) != len(a.Target) || a.Target[len(a.Target)-1] != "<end>" || slices.Min(a.TargetSteps) < 1 {
				t.Errorf("%v: %+v", args, a)
			}
		}
	}
	empty := answersOf(t, "\n12\n", "translate", copier, "--json")
	if len(empty) != 2 || empty[0].Answer != "" || empty[0].LogProb != 0 || empty[1].Line != 2 {
		t.Errorf("an empty line is translated as %+v", empty)
	}
	if r := utReading(t, "x\n12\n", "decode", copier, "--n-best", "1"); !strings.HasPrefix(r.stdout, "2\t-") || r.code != 1 {
		t.Errorf("%+v", r)
	}
}

// One note says how many lines have fewer answers than are wanted. Caught when planted: lines that cannot be answered counted; no note for
// translate or for JSON; a note if all are there.
func TestFewerAnswersAreNoted(t *testing.T) {
	copier := copierRun(t)
	const note = "ut: note: 2 lines have fewer than 5 answers: the model has found no others\n"
	for _, command := range []string{"decode", "translate"} {
		for _, more := range [][]string{nil, {"--json"}} {
			args := append([]string{command, copier, "--max-length", "1", "--n-best"}, append([]string{"5"}, more...)...)
			if r := utReading(t, "1\nx\n12\n", args...); strings.Count(r.stderr, "fewer than") != 1 || !strings.Contains(r.stderr, note) {
				t.Errorf("%q: %+v", args, r)
			}
			args[5] = "4"
			if r := utReading(t, "1\n12\n", args...); strings.Contains(r.stderr, "fewer") || r.code != 0 {
				t.Errorf("%q: %+v", args, r)
			}
		}
	}
}

// A story's answers as JSON: probabilities of the n best classes that sum to at most 1, the attention and the steps of every fact.
// dir is a run that answers stories.
func storiesAsJSON(t *testing.T, dir string) {
	t.Helper()
	const input = "Mary went to the garden.\nJohn went to the kitchen.\nWhere is Mary?\n"
	r := utReading(t, input, "answer", dir, "--json", "--n-best", "3")
	var a storyJSON
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	sum, attention := 0.0, 0.0
	for _, b := range a.NBest {
		sum += math.Exp(b.LogProb)
	}
	for _, share := range a.Attention {
		attention += share
	}
	if a.Line != 3 || a.Answer != a.NBest[0].Answer || len(a.NBest) != 3 || sum > 1+1e-6 || a.NBest[1].LogProb > a.LogProb || len(a.Source) != 3 || len(a.SourceSteps) != 3 || math.Abs(attention-1) > 1e-5 {
		t.Errorf("%+v", a)
	}
	help := succeeds(t, "answer", "--help")
	for _, field := range fields(t, []byte(r.stdout)) {
		if !strings.Contains(help, field) {
			t.Errorf("the help does not say what %q is", field)
		}
	}
	plain := utReading(t, input, "answer", dir, "--n-best", "3").stdout
	if !strings.HasPrefix(plain, a.Answer+" (") || strings.Count(plain, "\nor ") != 2 || !strings.Contains(plain, "\nor "+a.NBest[1].Answer+" (") {
		t.Errorf("as text: %q", plain)
	}
	for _, more := range [][]string{nil, {"--json"}} {
		if r := utReading(t, input, append([]string{"answer", dir, "--n-best", "900"}, more...)...); !strings.Contains(r.stderr, "ut: note: 1 line has fewer than 900 answers") {
			t.Errorf("%q: %+v", more, r)
		}
	}
}
