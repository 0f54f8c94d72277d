package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"universal-transformer/pipeline"
	"universal-transformer/viewer"
)

// Every command that runs a model passes its exit on. Caught when planted: an exit that a command does not apply.
func TestEveryCommandExits(t *testing.T) {
	run := trained(t)
	for _, c := range []struct {
		input string
		args  []string
	}{
		{"1234\n", []string{"decode", run}}, {"1234\n", []string{"translate", run, "--beam", "1"}}, {"1234\t4321\n", []string{"score", run}},
		{"", []string{"eval", run, "--count", "20"}}, {"", []string{"trace", run, "--input", "1234", "--json", "--out", "-"}},
	} {
		plain := utReading(t, c.input, c.args...)
		exited := utReading(t, c.input, append(c.args, "--encoder-steps", "9", "--decoder-steps", "8")...)
		if plain.code != 0 || exited.code != 0 || plain.stdout == exited.stdout {
			t.Errorf("%v: more steps write %+v, as trained %+v", c.args, exited, plain)
		}
	}
}

// With a rule, ut eval counts the steps and the readouts; with one that never ends a position, it measures what it measures without.
// Caught when planted: steps that are not counted for fixed depth; the steps of the encoder taken for the decoder's.
func TestEvalWithRule(t *testing.T) {
	evaluate := func(args ...string) (m struct {
		Exit     string
		Encoder  struct{ Mean float64 } `json:"encoder_steps"`
		Decoder  struct{ Mean float64 } `json:"decoder_steps"`
		Metrics  []struct{ Value float64 }
		Readouts *struct{ Extra, Operations float64 }
	}) {
		out := succeeds(t, append([]string{"eval", trained(t), "--count", "30", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain, six := evaluate(), evaluate("--encoder-steps", "5", "--decoder-steps", "6")
	if plain.Exit != "" || plain.Encoder.Mean != 0 || six.Exit != "5 encoder steps, 6 decoder steps" || six.Encoder.Mean != 5 || six.Decoder.Mean != 6 || six.Readouts != nil {
		t.Errorf("as trained %+v, with six steps %+v", plain, six)
	}
	never, always := evaluate("--fixed-steps", "6", "--exit-divergence", "1e-30"), evaluate("--fixed-steps", "6", "--exit-confidence", "0.01")
	if never.Encoder.Mean != 6 || never.Decoder.Mean != 6 || never.Readouts.Extra != 5 || never.Readouts.Operations <= 0 {
		t.Errorf("a rule that ends nothing: %+v", never)
	}
	if always.Encoder.Mean != 6 || always.Decoder.Mean != 1 || always.Readouts.Extra != 0 || always.Exit != "6 fixed steps, confidence of at least 0.01" {
		t.Errorf("a rule that ends everything: %+v", always)
	}
}

// A trace says how positions ended, and what the model would answer after each step.
func TestTraceHasReadouts(t *testing.T) {
	out := succeeds(t, "trace", trained(t), "--input", "1234", "--json", "--out", "-", "--fixed-steps", "5", "--exit-unchanged", "1")
	trace, err := viewer.ReadJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if trace.Exit != "5 fixed steps, answer unchanged for 1 step" || len(trace.Readouts) != len(trace.Target) {
		t.Fatalf("%q, %d readouts of %d positions", trace.Exit, len(trace.Readouts), len(trace.Target))
	}
	for i, r := range trace.Readouts {
		if n := int(trace.Decoder.Updates[i]); n < len(r.Steps) && r.Steps[n-1][0] != r.Steps[n-2][0] && r.Steps[n-1][0].Token != r.Steps[n-2][0].Token {
			t.Errorf("position %d ended after %d steps with %+v", i+1, n, r.Steps)
		}
	}
}

// Every rule has a flag of commands that run a model, a row in docs/depth.md, a line in ut help exits and one in ut help depth.
// Caught when planted: a rule without a row in docs/depth.md; one that is left out of each help text.
func TestEveryRuleIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/depth.md")
	if err != nil {
		t.Fatal(err)
	}
	decode, exits, depth := succeeds(t, "decode", "--help"), succeeds(t, "help", "exits"), succeeds(t, "depth", "--help")
	for _, r := range pipeline.DepthRules {
		flag := "--" + ruleFlag(r)
		for where, text := range map[string]string{
			decode: "      " + flag + " ", exits: "  " + flag + " ", depth: "\n  " + r.Name + " ", string(page): "\n| `" + flag + " ",
		} {
			if !strings.Contains(where, text) {
				t.Errorf("%s: %q is missing in %.60q...", r.Name, text, where)
			}
		}
	}
}
