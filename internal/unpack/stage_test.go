package unpack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Files that the caller's check refuses replace none, and the error names the archive. Caught when planted: a check after the files are
// moved.
func TestCheckBeforeMoving(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "one.txt"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := listed(t, root)
	a := Archive{Path: archived(t, "a.tar", tarOf(t, files)), Name: "all.tar", Wanted: texts, Check: func(staging string) error {
		content, err := os.ReadFile(filepath.Join(staging, "one.txt"))
		return fmt.Errorf("it says %q (%w)", content, err)
	}}
	if _, err := a.Into(t.Context(), root); err == nil || !strings.HasPrefix(err.Error(), `all.tar: it says "one" (`) {
		t.Errorf("%v", err)
	}
	if after := listed(t, root); after != before {
		t.Errorf("%q, before %q", after, before)
	}
}

// A context that ends while files are read or checked leaves nothing, and the error is its own. While the caller's check still runs, the
// temporary files are removed already. Caught when planted: a reader that does not look at the context; files removed after the check
// alone.
func TestInterrupt(t *testing.T) {
	for name, content := range packed(t) {
		for _, checking := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			a := Archive{Path: archived(t, name, content), Name: name, Wanted: texts}
			if checking {
				a.Check = func(staging string) error {
					cancel()
					for { // ends when the files are removed
						if _, err := os.Stat(staging); err != nil {
							return err
						}
						runtime.Gosched()
					}
				}
			} else {
				a.Wanted = func(string) (string, bool) {
					cancel()
					return "one.txt", true
				}
			}
			root := t.TempDir()
			if _, err := a.Into(ctx, filepath.Join(root, "new")); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if left := listed(t, root); left != root+"\n" {
				t.Errorf("%s: left is %q", name, left)
			}
		}
	}
}

// Folders of killed processes are removed, but not a folder of the user's whose name resembles theirs.
// Caught when planted: any text in place of the number.
func TestRemoveStale(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{".unpack.1.tmp", ".unpack.mine.tmp"} {
		dir := filepath.Join(folder, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-2*longestUnpacking)); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(folder)
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 || left[0].Name() != ".unpack.mine.tmp" {
		t.Errorf("left: %v, %v", left, err)
	}
}
