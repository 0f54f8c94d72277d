package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
)

// Open names what is wrong with the directories and options.
// Caught when planted: the same directory that is to be renamed; paths that are compared as text.
func TestOpenErrors(t *testing.T) {
	whole, err := filepath.Abs(copier)
	linked := filepath.Join(t.TempDir(), "copier")
	if err := errors.Join(err, os.Symlink(whole, linked)); err != nil {
		t.Fatal(err)
	}
	for want, test := range map[string]struct {
		dirs []string
		o    Options
	}{
		"both named copier": {dirs: []string{copier, copied(t, "copier")}},
		"../pipeline/testdata/./copier is named twice: leave one out": {dirs: []string{copier, "../models/reverse", "../pipeline/testdata/./copier"}},
		"/copier is named twice": {dirs: []string{copier, linked}},
		"name at least one":      {},
		"nowhere":                {dirs: []string{"nowhere"}},
		"MaxQueue is -1":         {dirs: []string{copier}, o: Options{MaxQueue: -1}},
		"Timeout is -1s":         {dirs: []string{copier}, o: Options{Timeout: -1e9}},
	} {
		if _, err := Open(test.dirs, enginetest.Backend(t), test.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", want, err)
		}
	}
}
