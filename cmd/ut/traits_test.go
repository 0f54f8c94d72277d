package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/cobra"
)

// What a rank says about itself tells commands and command lines apart, names the running program by its content, and says what to do.
func TestTraits(t *testing.T) {
	of := func(name string, args ...string) map[string]string {
		list, err := traits(&cobra.Command{Use: name}, args)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, trait := range list {
			if values[trait.Name] = trait.Value; trait.Fix == "" {
				t.Errorf("%s has no fix", trait.Name)
			}
		}
		return values
	}
	one, other := of("train", "a b", "c"), of("version", "a", "b c")
	if one["command"] != "train" || other["command"] != "version" || one["command line"] == other["command line"] {
		t.Errorf("%v and %v", one, other)
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if want := fmt.Sprintf("%x", sha256.Sum256(content))[:16]; err != nil || one["program's SHA-256"] != want {
		t.Errorf("the program is %s, not %s (%v)", one["program's SHA-256"], want, err)
	}
}
