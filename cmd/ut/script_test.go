package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script are sequences of commands as a user types them, with what they print. Two commands are added:
//
//	quickly RECIPE ARGUMENTS...   ut train with settings that make the model tiny and end training after some updates
//	lines FILE N TEXT             writes N lines, in which {i} is the number of the line from 1, {d} its last digit, and {a} a letter
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"quickly": quickly, "lines": writeLines},
	})
}

// quick is the configuration of a tiny model.
var quick = []string{
	"model.width=8", "model.heads=2", "model.transition.filter=16", "model.halting={\"frozen\": {\"max_steps\": 2, \"epsilon\": 0.01}}",
	"training.steps=10", "training.log_every=5", "training.evaluate_every=5", "training.checkpoint_every=5", "training.batch={\"tokens\": 256}",
}

func quickly(s *testscript.TestScript, neg bool, args []string) {
	args = append([]string{"train"}, args...)
	for _, set := range quick {
		args = append(args, "--set", set)
	}
	if err := s.Exec("ut", args...); (err != nil) != neg {
		s.Fatalf("ut %s: %v", strings.Join(args, " "), err)
	}
}

func writeLines(s *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		s.Fatalf("usage: lines FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	s.Check(err)
	var text strings.Builder
	for i := 1; i <= n; i++ {
		line := strings.NewReplacer("{i}", fmt.Sprint(i), "{d}", fmt.Sprint(i%10), "{a}", string(rune('a'+i*7%26)), `\t`, "\t").Replace(args[2])
		text.WriteString(line + "\n")
	}
	s.Check(os.WriteFile(s.MkAbs(args[0]), []byte(text.String()), 0o600))
}
