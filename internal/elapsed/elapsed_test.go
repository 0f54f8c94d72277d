package elapsed

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Reports come after two seconds, then every ten, and none after the end.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		lasts time.Duration
		want  []time.Duration
	}{
		{1900 * time.Millisecond, nil},
		{11 * time.Second, []time.Duration{2 * time.Second}},
		{25 * time.Second, []time.Duration{2 * time.Second, 12 * time.Second, 22 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said []time.Duration
			stop := Report(func(d time.Duration) { said = append(said, d) })
			time.Sleep(c.lasts)
			stop()
			time.Sleep(time.Minute)
			if !slices.Equal(said, c.want) {
				t.Errorf("a task of %v: reports %v, not %v", c.lasts, said, c.want)
			}
		})
	}
}
