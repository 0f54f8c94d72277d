package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A damaged archive is named; nothing is fetched in its place.
// Caught when planted: whatever cannot be opened taken for nothing.
func TestDamagedArchiveIsNamed(t *testing.T) {
	for _, name := range []string{"tasks_1-20_v1-2.tar.gz", "tasks_1-20_v1-2.tar.xz", "other.tar.gz"} {
		path := write(t, name, "\x1f\x8b cut short")
		dir := filepath.Dir(path)
		if name == "other.tar.gz" {
			dir = path // the archive itself
		}
		r := ut(t, "data", "babi", "--dir", dir)
		checkFailure(t, r, 1, path, "get it again")
	}
}

// What a transfer that was killed has left is removed by the next; one that may still be going on is not.
func TestStaleTransfers(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".tasks_1-20_v1-2.tar.gz.1.tmp": 2 * longestFetch, ".tasks_1-20_v1-2.tar.gz.2.tmp": 0, ".other.1.tmp": 2 * longestFetch} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(filepath.Join(dir, "tasks_1-20_v1-2.tar.gz"))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) != 2 || strings.Contains(strings.Join(left, " "), "gz.1.tmp") {
		t.Errorf("left: %v, %v", left, err)
	}
}
