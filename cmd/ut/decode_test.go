package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	for lines, more := range map[int][]string{mostLines + 6: nil, 3: {"--beam", "2"}} {
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

// A line that is no source is named, and those before it are answered.
func TestDecodeBadLine(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		says []string
	}{
		"unknown symbol": {"4x4", []string{"line 3: ", `"x"`, "position 2"}},
		"empty":          {"", []string{"line 3: ", "empty"}},
		"no UTF-8":       {"1\xff", []string{"line 3: ", "UTF-8"}},
		"too long":       {strings.Repeat("1", longestLine+1), []string{"line 3 ", "longer than"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := utReading(t, "1\n2\n"+c.line+"\n4\n", "decode", trained(t))
			checkFailure(t, r, 1, c.says...)
			if strings.Count(r.stdout, "\n") != 2 {
				t.Errorf("2 lines are good, the answers are %q", r.stdout)
			}
		})
	}
}

// A line is answered although more may follow: who asks by hand gets answers.
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
