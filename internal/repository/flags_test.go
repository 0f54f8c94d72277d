package repository_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// flagName matches a flag of a command line, as in "give --beam too".
var flagName = regexp.MustCompile(`(^|[^-\w])--[a-z%]`)

// otherCommands are texts of libraries with flags of other programs.
var otherCommands = []string{"python3 -m pip "}

// namesFlags reports whether a text names a flag, or one of the program's commands after "ut".
func namesFlags(text string, commands map[string]bool) bool {
	for _, other := range otherCommands {
		if strings.Contains(text, other) {
			return false
		}
	}
	if flagName.MatchString(text) {
		return true
	}
	for _, m := range utCommand.FindAllStringSubmatch(text, -1) {
		if commands[m[1]] {
			return true
		}
	}
	return false
}

// Errors and texts of libraries name fields and values. Flags and commands are known to cmd/ut alone, and to the tools that run it.
func TestOnlyTheProgramNamesItsFlags(t *testing.T) {
	commands := subcommands(t)
	for _, file := range sources(t) {
		if file.folder() == "cmd/ut" || strings.HasPrefix(file.path, "internal/cmd/") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && namesFlags(text, commands) {
				t.Errorf("%s: %s: name fields and values, and let cmd/ut add what to type", file.path, literal.Value)
			}
			return true
		})
	}
}

// The check above, on texts that do and do not name flags.
func TestFlagChecksBite(t *testing.T) {
	commands := map[string]bool{"train": true}
	for text, want := range map[string]bool{
		"leave out --beam": true, "--%w": true, "--ranks is 0": true, "first ut train demo": true, "(ut train --resume)": true, "run `ut train demo`": true,
		"a -- b": false, "10--20": false, "ut is a program": false, "cut train": false, "training.steps is 0": false, "python3 -m pip download --no-deps x": false,
	} {
		if got := namesFlags(text, commands); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
