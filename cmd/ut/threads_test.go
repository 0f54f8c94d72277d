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
		warnOfThreads(c, backend, 2)
		if (want == "") != (stderr.Len() == 0) || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %q, want %q", backend, &stderr, want)
		}
	}
	if r := ut(t, "eval", "nowhere", "--backend", "cpu:threads=4000"); !strings.HasPrefix(r.stderr, "ut: --backend cpu:threads=4000 has 4000 threads for ") {
		t.Errorf("%+v", r)
	}
}
