package main

import (
	"os/exec"
	"testing"
	"time"
)

// The adaptive row is timed after the run that compiles the graph of the plan. Caught when planted: two runs before it, as elsewhere.
func TestWarmup(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, j := range jobs() {
		want := 2.0
		if j.name == "train, adaptive" {
			want = 4
		}
		m := meter{repeat: 3, threads: 2, timeout: time.Minute}
		got, err := m.once(j, []string{shell, "-c", `echo "{\"seconds\": $4}"`, "ut"}) // --repeat 3 --warmup N
		if err != nil || got.Seconds != want {
			t.Errorf("%s: %v runs before the timed ones, %v, want %v", j.name, got.Seconds, err, want)
		}
	}
}
