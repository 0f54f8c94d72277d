package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run with a stopping criterion may end before its last update, so that the remaining time is at most what is shown.
// Caught when planted: patience alone; every run.
func TestMayEndEarly(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(copierRun(t), "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	const none = `"stop": {`
	at := strings.Index(string(data), none)
	end := at + strings.Index(string(data)[at:], "}")
	for stop, want := range map[string]bool{
		`"patience": 0, "accuracy": 0`: false, `"patience": 3, "accuracy": 0`: true, `"patience": 0, "accuracy": 0.9`: true, `"patience": 0, "accuracy": 0, "perfect": 2`: true,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(string(data)[:at+len(none)]+stop+string(data)[end:]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := mayEndEarly(dir); got != want {
			t.Errorf("%s: %v, want %v", stop, got, want)
		}
	}
}
