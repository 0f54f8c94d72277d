package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// Every process that trains a run is recorded, in order; one that makes no update is not. A damaged record is replaced, with a note.
func TestSessions(t *testing.T) {
	dir, r := briefly(t)
	first, err := pipeline.ReadSessions(dir)
	if err != nil || len(first) != 1 || first[0].Updates != r.Training.Steps || first[0].WallSeconds <= 0 || first[0].Backend == "" || first[0].CPU == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	var notes []string
	resume := func(steps string) {
		t.Helper()
		callbacks := pipeline.Callbacks{Log: func(line string) { notes = append(notes, line) }}
		if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, callbacks, "training.steps="+steps); err != nil {
			t.Fatal(err)
		}
	}
	resume("9")
	resume("9")
	both, err := pipeline.ReadSessions(dir)
	if err != nil || len(both) != 2 || both[0] != first[0] || both[1].Updates != 9-r.Training.Steps {
		t.Errorf("%+v, %v", both, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions.json"), []byte(`{"sessions": [{"threads": -1}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	notes = nil
	resume("11")
	after, err := pipeline.ReadSessions(dir)
	if err != nil || len(after) != 1 || after[0].Updates != 2 || !strings.Contains(strings.Join(notes, "\n"), "sessions[0].threads is -1") {
		t.Errorf("%+v, %v, %q", after, err, notes)
	}
}
