package main

import (
	"bytes"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// Work of 13 seconds says twice how long it has taken, after 2 and after 12; the result is that of the work, and nothing is said after it.
// Caught when planted: no line; a line after the work; the error of the work ignored.
func TestSayingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		c := &cobra.Command{}
		c.SetErr(&said)
		failed := errors.New("as planned")
		err := sayingTime(func(*cobra.Command, []string) error {
			time.Sleep(13 * time.Second)
			return failed
		})(c, nil)
		time.Sleep(time.Minute)
		if want := regexp.MustCompile(`^computing: 2s so far\ncomputing: 12s so far\n$`); !errors.Is(err, failed) || !want.MatchString(said.String()) {
			t.Errorf("%v, and said %q", err, said.String())
		}
	})
}
