package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A backend with more threads than processors is used, and one line says that it is slower. Caught when planted: a warning for as many
// threads as processors; another number than that of the backend.
func TestWarnOfThreads(t *testing.T) {
	for backend, want := range map[string]string{
		"": "", "go": "", "cpu:threads=2": "", "cpu:avx2,threads=2,products=bf16": "", "xla:cpu": "", "cpu:mythreads=9": "", "cpu:threads=x": "",
		"cpu:threads=3":                      "ut: --backend cpu:threads=3 has 3 threads for 2 processors: more threads than processors make it slower\n",
		"cpu:avx2,threads=999,products=bf16": "has 999 threads for 2 processors",
	} {
		var stderr bytes.Buffer
		c := &cobra.Command{}
		c.SetErr(&stderr)
		warnOfThreads(c, backend, 2, 2, 1)
		if (want == "") != (stderr.Len() == 0) || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %q, want %q", backend, &stderr, want)
		}
	}
	if r := ut(t, "eval", "nowhere", "--backend", "cpu:threads=4000"); !strings.HasPrefix(r.stderr, "ut: --backend cpu:threads=4000 has 4000 threads for ") {
		t.Errorf("%+v", r)
	}
}

// Ranks of one host share its processors, bound to some of them or not.
func TestWarnOfThreadsOfRanks(t *testing.T) {
	for _, c := range []struct {
		threads                 string
		processors, host, local int
		want                    string
	}{
		{"cpu:threads=4", 8, 8, 2, ""}, {"cpu:threads=4", 4, 8, 2, ""}, {"cpu:threads=8", 8, 8, 1, ""}, {"xla:cuda", 8, 8, 2, ""}, {"", 4, 8, 2, ""},
		{"", 8, 8, 2, "ut: 2 ranks on this host with 8 threads each have more threads than its 8 processors, which makes them slower: give --backend fewer, as in cpu:threads=4\n"},
		{"cpu:threads=5", 8, 8, 2, "ut: 2 ranks on this host with 5 threads each have more threads than its 8 processors, which makes them slower: give --backend fewer, as in cpu:threads=4\n"},
		{"cpu:threads=5", 4, 8, 2, "ut: --backend cpu:threads=5 has 5 threads for 4 processors: more threads than processors make it slower\n"},
		{"cpu:threads=1", 2, 2, 3, ""},
		{"cpu:threads=2", 2, 2, 3, "ut: 3 ranks on this host with 2 threads each have more threads than its 2 processors, which makes them slower: give --backend fewer, as in cpu:threads=1\n"},
	} {
		var stderr bytes.Buffer
		command := &cobra.Command{}
		command.SetErr(&stderr)
		if warnOfThreads(command, c.threads, c.processors, c.host, c.local); stderr.String() != c.want {
			t.Errorf("%+v: %q", c, &stderr)
		}
	}
}
