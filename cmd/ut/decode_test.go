package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	for lines, more := range map[int][]string{maxLines + 6: nil, 3: {"--beam", "2"}} {
		var input strings.Builder
		for i := range lines {
			fmt.Fprintln(&input, 1+i%2)
		}
		r := utReading(t, input.String(), append([]string{"decode", trained(t)}, more...)...)
		answers := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
		if r.code != 0 || r.stderr != "" || len(answers) != lines {
			t.Fatalf("exit code %d, %d answers: %s", r.code, len(answers), r.stderr)
		}
		for i := range lines - 2 {
			if answers[i] != answers[i+2] {
				t.Errorf("line %d is answered %q, the same line %d %q", i+1, answers[i], i+3, answers[i+2])
			}
		}
	}
	if r := utReading(t, "", "decode", trained(t)); r.code != 0 || r.stdout != "" || r.stderr != "" {
		t.Errorf("nothing is answered with %+v", r)
	}
	if r := utReading(t, "1\r\n2", "decode", trained(t)); r.code != 0 || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("lines that end otherwise: %+v", r)
	}
}

// An invalid line is reported, and its answer is an empty line. The other answers stay aligned with their sources and are sampled as if the
// line were valid. Caught when planted: an end at the first bad line; numbers that count valid lines only.
func TestDecodeBadLine(t *testing.T) {
	sample := []string{"decode", trained(t), "--sample", "--temperature", "4", "--max-source", "1000"}
	want := strings.Split(utReading(t, "1\n2\n3\n4\n5\n", sample...).stdout, "\n")
	for name, c := range map[string]struct {
		line string
		says []string
	}{
		"unknown token": {"4x4", []string{"line 3: ", `"x"`, "position 2"}},
		"empty":         {"", []string{"line 3: ", "empty"}},
		"no UTF-8":      {"1\xff", []string{"line 3: ", "UTF-8"}},
		"too long":      {strings.Repeat("1", maxLineSize+3), []string{"line 3: ", "longer than"}},
		"too many":      {strings.Repeat("1", 1001), []string{"line 3: ", "1001 tokens are more than the limit, 1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := utReading(t, "1\n2\n"+c.line+"\n4\n5\n", sample...)
			said, summary, _ := strings.Cut(r.stderr, "\n")
			checkFailure(t, result{stderr: said + "\n", code: r.code}, 1, c.says...)
			if summary != "ut: 1 of 5 lines could not be answered\n" {
				t.Errorf("ends with %q", summary)
			}
			if got := strings.Split(r.stdout, "\n"); !slices.Equal(got, []string{want[0], want[1], "", want[3], want[4], ""}) {
				t.Errorf("the answers are %q, want %q but for the third", got, want)
			}
		})
	}
	if r := utReading(t, "\xef\xbb\xbf1\n2\n", sample...); r.code != 0 || r.stdout != want[0]+"\n"+want[1]+"\n" {
		t.Errorf("a byte order mark: %+v, want %q", r, want[:2])
	}
	checkFailure(t, utReading(t, "\xff\xfe1\x00\n\x00", sample...), 1, "the standard input is UTF-16", "UTF-8")
}

// After a mistyped line at the terminal, the error is printed without an empty answer, and the exit code is 0.
func TestDecodeByHand(t *testing.T) {
	defer func(was func(io.Reader) bool) { isTerminal = was }(isTerminal)
	isTerminal = func(io.Reader) bool { return true }
	var out, said strings.Builder
	c := newDecode()
	c.SetArgs([]string{trained(t)})
	c.SetIn(strings.NewReader("12\nx\n12\n"))
	c.SetOut(&out)
	c.SetErr(&said)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answers := strings.Split(out.String(), "\n"); len(answers) != 3 || answers[0] != answers[1] {
		t.Errorf("the answers are %q", answers)
	}
	if !strings.HasPrefix(said.String(), "ut: line 2: ") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("it says %q", said.String())
	}
}

// A line is answered immediately, although more may follow.
func TestDecodeAnswersAtOnce(t *testing.T) {
	c := exec.Command(program, "decode", trained(t))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	answers := bufio.NewReader(out)
	for _, line := range []string{"12", "34"} {
		if _, err := fmt.Fprintln(in, line); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil {
			t.Fatalf("%q is answered %q, %v", line, answer, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A pipe gets whole lines only, also if decoding is interrupted; a terminal gets parts of lines, and a line break after the last one.
// Caught when planted: parts of lines in a pipe; a line break that completes one.
func TestDecodeInterrupted(t *testing.T) {
	defer func(was func(io.Writer) bool) { writesTerminal = was }(writesTerminal)
	decode := func(terminal bool, writes int) (string, error) {
		writesTerminal = func(io.Writer) bool { return terminal }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &interrupting{after: writes, cancel: cancel}
		c := newDecode()
		c.SetArgs([]string{trained(t), "--sample", "--temperature", "10", "--max-length", "50"})
		c.SetIn(strings.NewReader(strings.Repeat("12\n", 40)))
		c.SetOut(out)
		c.SilenceUsage, c.SilenceErrors = true, true
		err := c.ExecuteContext(ctx)
		return out.String(), err
	}
	whole, err := decode(false, 1000)
	if err != nil || strings.Count(whole, "\n") != 40 {
		t.Fatalf("%q, %v", whole, err)
	}
	if text, err := decode(false, 1); !errors.Is(err, context.Canceled) || !strings.HasPrefix(whole, text) || !strings.HasSuffix(text, "\n") || text == whole {
		t.Errorf("a pipe: %q, %v", text, err)
	}
	if text, err := decode(true, 1); !errors.Is(err, context.Canceled) || strings.HasPrefix(whole, text) || !strings.HasPrefix(whole, strings.TrimSuffix(text, "\n")) {
		t.Errorf("a terminal: %q, %v", text, err)
	}
}

// interrupting is an output whose reader interrupts after a number of writes.
type interrupting struct {
	strings.Builder
	after  int
	cancel func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	if w.after--; w.after == 0 {
		w.cancel()
	}
	return w.Builder.Write(p)
}

// The answer to a line depends only on the seed, the line's number and its content.
// Caught when planted: the position in the batch used as the number of the line; a seed that is ignored.
func TestDecodeSamples(t *testing.T) {
	hot := func(input string, more ...string) []string {
		r := utReading(t, input, append([]string{"decode", trained(t), "--sample", "--temperature", "4"}, more...)...)
		if r.code != 0 || r.stderr != "" {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		return strings.Split(r.stdout, "\n")
	}
	input := strings.Repeat("123\n", maxLines+3)
	all := hot(input, "--seed", "3")
	if again := hot(input, "--seed", "3"); !slices.Equal(all, again) {
		t.Error("the same seed gives something else")
	}
	if other := hot(input, "--seed", "4"); slices.Equal(all, other) {
		t.Error("another seed gives the same")
	}
	if few := hot(strings.Repeat("123\n", 2), "--seed", "3"); !slices.Equal(few[:2], all[:2]) {
		t.Errorf("lines 1 and 2 are answered %q alone, %q with others", few[:2], all[:2])
	}
	if others := hot(strings.Repeat("4\n", maxLines+2)+"123\n", "--seed", "3"); others[maxLines+2] != all[maxLines+2] {
		t.Errorf("line %d is answered %q after others, %q before", maxLines+3, others[maxLines+2], all[maxLines+2])
	}
	if slices.Equal(all[:3], all[maxLines:maxLines+3]) {
		t.Error("lines are answered by their place among those that are decoded together")
	}
	greedy := utReading(t, "123\n", "decode", trained(t)).stdout
	if cold := hot("123\n", "--top-k", "1"); cold[0]+"\n" != greedy {
		t.Errorf("the most probable token alone gives %q, greedy decoding %q", cold[0], greedy)
	}
}

// A beam of 1 writes what greedy decoding writes, also for sources that the model has not learned, and whatever the length penalty is.
// Caught when planted: a beam of 1 that may end earlier.
func TestBeamOfOne(t *testing.T) {
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintln(&lines, 987654321*(i+1)*(i%9+1))
	}
	want := utReading(t, lines.String(), "decode", trained(t)).stdout
	for _, args := range [][]string{{"decode"}, {"decode", "--alpha", "2"}, {"translate"}} {
		if r := utReading(t, lines.String(), append(args, trained(t), "--beam", "1")...); r.code != 0 || r.stdout != want {
			t.Errorf("%v: %+v, greedy decoding writes %q", args, r, want)
		}
	}
}

// Answers have a maximum length, and the model an early exit. Caught when planted: a limit that is not passed on; an exit that is ignored.
func TestDecodeLimits(t *testing.T) {
	plain := utReading(t, "1234\n", "decode", trained(t)).stdout
	for _, c := range []struct {
		args []string
		same bool
	}{
		{[]string{"--max-length", "1"}, false}, {[]string{"--max-length", "16"}, true}, {[]string{"--max-length", "0"}, true}, // five quarters of 5, and 10
		{[]string{"--fixed-steps", "9"}, false}, {[]string{"--exit-steps", "1000"}, true},
	} {
		r := utReading(t, "1234\n", append([]string{"decode", trained(t)}, c.args...)...)
		if r.code != 0 || (r.stdout == plain) != c.same {
			t.Errorf("%v: %+v, plainly %q", c.args, r, plain)
		}
		if c.args[0] == "--max-length" && !strings.HasPrefix(plain, strings.TrimSuffix(r.stdout, "\n")) {
			t.Errorf("%v: %q does not begin %q", c.args, r.stdout, plain)
		}
	}
	for want, args := range map[string][]string{
		"--temperature is for sampling":      {"--temperature", "2"},
		"--seed is for sampling":             {"--seed", "2"},
		"--beam and --sample are both given": {"--sample", "--beam", "2"},
		"--temperature is 0":                 {"--sample", "--temperature", "0"},
		"--top-k is -1":                      {"--sample", "--top-k", "-1"},
		"--top-p is 2":                       {"--sample", "--top-p", "2"},
		"--max-length is -1: give 1 to":      {"--max-length", "-1"},
		"--exit-steps is 0":                  {"--exit-steps", "0"},
		"--exit-steps is 1001":               {"--exit-steps", "1001"},
		"--fixed-steps is 1001":              {"--fixed-steps", "1001"},
		"--max-source is 0":                  {"--max-source", "0"},
		"--max-source is 1000001":            {"--max-source", "1000001"},
		"--max-length is 1000001":            {"--max-length", "1000001"},
		"--exit-threshold is 1":              {"--exit-threshold", "1"},
		"--fixed-steps leaves no choice":     {"--fixed-steps", "2", "--exit-steps", "1"},
		"does not halt by itself":            {"--exit-threshold", "0.5"},
	} {
		checkFailure(t, utReading(t, "1\n", append([]string{"decode", trained(t)}, args...)...), 2, want)
	}
}
