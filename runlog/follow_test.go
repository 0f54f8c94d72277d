package runlog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"universal-transformer/runlog"
)

// A reader that follows a run gets every line and every event once, in several turns, and nothing while nothing is written. A run whose
// process has not written yet has no lines; one whose lines were read and are gone is an error.
// Caught when planted: offsets that move back; a file that is missing later taken for one that is missing at first, and the reverse.
func TestFollow(t *testing.T) {
	r, err := runlog.Create(filepath.Join(t.TempDir(), "run"), map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	offsets, offset, number := map[string]int64{}, int64(0), 0
	for turn, count := range []int{2, 0, 1, 3} {
		for range count {
			number++
			appendEvents(t, r, int64(number))
			if err := r.AppendMetrics(map[string]any{"step": number, "split": "training"}); err != nil {
				t.Fatal(err)
			}
		}
		events, err := r.NewEvents(offsets)
		var seen []int64
		for _, e := range events {
			if len(e.Scalars) > 0 {
				seen = append(seen, e.Step)
			}
		}
		if err != nil || len(seen) != count || count > 0 && (seen[0] != int64(number-count+1) || seen[count-1] != int64(number)) {
			t.Errorf("turn %d: events %v, %v, want the last %d of %d", turn, seen, err, count, number)
		}
		rows, next, err := r.NewMetrics(offset)
		if err != nil || len(rows) != count || (next > offset) != (count > 0 || turn == 0) || count > 0 && rows[count-1]["step"] != float64(number) {
			t.Errorf("turn %d: %d rows to %d, %v", turn, len(rows), next, err)
		}
		offset = next
	}
	if err := os.Remove(filepath.Join(r.Dir(), "metrics.jsonl")); err != nil {
		t.Fatal(err)
	}
	if rows, next, err := r.NewMetrics(0); len(rows) != 0 || next != 0 || err != nil {
		t.Errorf("missing at first: %v to %d, %v", rows, next, err)
	}
	for _, from := range []int64{1, offset} {
		if _, _, err := r.NewMetrics(from); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing after %d bytes were read: %v", from, err)
		}
	}
}

// Behind an offset, the lines are damaged that are so for a reader of the whole file: without a checksum after one with a checksum, and
// with a version that is not in the first line. Lines of versions without checksums are read.
// Caught when planted: an offset taken for the beginning of the file; a line before it that counts as checksummed.
func TestFollowDamaged(t *testing.T) {
	first, bare, named := line(`{"step":1}`), "{\"step\":1}\n", line(`{"version":"1"}`)
	for _, c := range []struct {
		before, after string
		damaged       bool
	}{
		{first, line(`{"step":2}`), false}, {first, "{\"step\":2}\n", true}, {first, named, true}, {named, "{\"step\":2}\n", true},
		{bare, "{\"step\":2}\n", false}, {bare, line(`{"step":2}`), false}, {"", "{\"step\":2}\n", false}, {"", named + first, false},
	} {
		r := create(t)
		r.Close()
		if err := os.WriteFile(metricsPath(r), []byte(c.before+c.after), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Metrics(); errors.Is(err, runlog.ErrDamaged) != c.damaged {
			t.Errorf("%q after %q: the whole file: %v", c.after, c.before, err)
		}
		rows, next, err := r.NewMetrics(int64(len(c.before)))
		if errors.Is(err, runlog.ErrDamaged) != c.damaged || c.damaged && len(rows) > 0 || !c.damaged && (len(rows) != 1 || next != int64(len(c.before+c.after))) {
			t.Errorf("%q after %q: %v to %d, %v", c.after, c.before, rows, next, err)
		}
	}
}
