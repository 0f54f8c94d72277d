package pipeline_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
)

var datesPath = flag.String("dates", "", "write the table of dates to this `file`, and test nothing")

// layouts are how people write the same day. Two digits of a year mean 1950 to 2049.
var layouts = []string{
	"January 2, 2006", "2 January 2006", "2 Jan 06", "Jan 2, 2006", "Monday, January 2, 2006", "2.1.2006", "02/01/06", "2006/01/02",
}

// dates is a table of n days, as somebody wrote them and as ISO 8601 does:
//
//	3 Mar 19	2019-03-03
func dates(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	first := time.Date(1950, time.January, 1, 0, 0, 0, 0, time.UTC)
	var table strings.Builder
	for range n {
		day := first.AddDate(0, 0, random.IntN(100*365))
		fmt.Fprintf(&table, "%s\t%s\n", day.Format(layouts[random.IntN(len(layouts))]), day.Format(time.DateOnly))
	}
	return table.String()
}

// What people's own data start from learns to write dates, and with adaptive depth it ponders: no stack halts after one step, none runs to
// the limit.
// Caught when planted: a halting unit that starts at 4 or at -9.
//
// With -dates the table is written to a file instead: go test ./pipeline -run TestDates -dates dates.tsv
func TestDates(t *testing.T) {
	path := cmp.Or(*datesPath, filepath.Join(t.TempDir(), "dates.tsv"))
	if err := os.WriteFile(path, []byte(dates(10_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if *datesPath != "" {
		return
	}
	r, err := experiment.Defaults().Set("task.table.path="+path, "training.steps=200", "training.batch.tokens=512", "training.evaluate_every=100",
		"model.halting.frozen.max_steps=4")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	report, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, filepath.Join(t.TempDir(), "run"), pipeline.Callbacks{Log: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	seen := report.Validation
	if seen.TokenAccuracy() < 0.6 || seen.EncoderPonder() < 1.1 || seen.EncoderPonder() > 3.9 || seen.DecoderPonder() < 1.1 || seen.DecoderPonder() > 3.9 {
		t.Errorf("token accuracy %.3f, ponder times %.2f and %.2f:\n%s", seen.TokenAccuracy(), seen.EncoderPonder(), seen.DecoderPonder(), strings.Join(said, "\n"))
	}
	t.Logf("token accuracy %.3f, ponder times %.2f and %.2f", seen.TokenAccuracy(), seen.EncoderPonder(), seen.DecoderPonder())
}
