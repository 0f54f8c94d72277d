package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine/enginetest"
	"universal-transformer/runlog"
)

// resumed opens the log of a run until the test ends, and reads its best checkpoint.
func resumed(t *testing.T, dir string) (*runlog.Run, *runlog.Checkpoint) {
	t.Helper()
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	best, err := log.Best()
	if err != nil {
		t.Fatal(err)
	}
	return log, best
}

// logged returns a log that adds lines to a list, but for notes of the checkpoint that is served: copier's is of an earlier version.
func logged(said *[]string) func(string) {
	return func(line string) {
		if !strings.Contains(line, ": serving update ") {
			*said = append(*said, line)
		}
	}
}

// While better checkpoints are marked and loaded, one after the other, every request is answered, streams and traces too, and each
// checkpoint that was replaced is freed. Caught when planted: an old model that is closed while requests use it; a look that blocks requests.
func TestFollowUnderTraffic(t *testing.T) {
	dir := copied(t, "copy")
	log, best := resumed(t, dir)
	var mu sync.Mutex
	var said []string
	s, web := opened(t, Options{Log: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		logged(&said)(line)
	}}, dir)
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	counts := make([]int, 8)
	for i := range counts {
		clients.Go(func() {
			for ; ctx.Err() == nil; counts[i]++ {
				follower(t, web, i)
			}
		})
	}
	var follows sync.WaitGroup
	follows.Go(func() { s.Follow(ctx, time.Millisecond) })
	const checkpoints = 6
	for step := int64(1300); step < 1300+checkpoints; step++ {
		if err := log.SaveCheckpoint(step, best, 5); err != nil {
			t.Fatal(err)
		}
		if err := log.MarkBest(step); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; {
			if _, text := send(t, web, http.MethodGet, "/v1/models", ""); strings.Contains(text, fmt.Sprintf(`"step":%d`, step)) {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("the checkpoint of step %d is not loaded: %s", step, text)
			}
		}
	}
	cancel()
	clients.Wait()
	follows.Wait()
	s.models[0].retired.Wait()
	if len(said) != checkpoints || said[checkpoints-1] != "copy: loaded the checkpoint of update 1305" {
		t.Errorf("said %q", said)
	}
	for i, n := range counts {
		if n < 2 {
			t.Errorf("client %d sent %d requests: this shows little", i, n)
		}
	}
}

// follower sends a request of a kind, which must be answered.
func follower(t *testing.T, web *httptest.Server, kind int) {
	switch kind % 4 {
	case 0, 1:
		if got := post[completion](t, web, "/v1/completions", `{"prompt": ["2026", "31"]}`).texts(); fmt.Sprint(got) != "[2026 stop 31 stop]" {
			t.Errorf("a completion: %q", got)
		}
	case 2:
		if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "2026", "stream": true}`); status != 200 || !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, "error") {
			t.Errorf("a stream: %d %s", status, text)
		}
	default:
		if status, text := send(t, web, http.MethodPost, "/v1/trace", `{"input": "12", "exit": {"rule": "fixed", "setting": 1}}`); status != 200 {
			t.Errorf("a trace: %d %s", status, text)
		}
		if got := post[results[scoreJSON]](t, web, "/v1/score", `{"pairs": [{"source": "12", "target": "12"}]}`).Data; len(got) != 1 || got[0].LogProb == nil {
			t.Errorf("a score: %v", got)
		}
	}
}

// marking is a backend that does something when it is used first.
type marking struct {
	compute.Backend
	once *sync.Once
	do   func()
}

func (m marking) HasSharedBuffers() bool {
	m.once.Do(m.do)
	return m.Backend.HasSharedBuffers()
}

// A checkpoint that is marked while the one before is loaded at the start is loaded at the next look.
// Caught when planted: the mark is read after loading, and the checkpoint counts as tried.
func TestMarkedWhileLoading(t *testing.T) {
	dir := copied(t, "copy")
	log, best := resumed(t, dir)
	marked := false
	var said []string
	s, err := Open([]string{dir}, marking{enginetest.Backend(t), new(sync.Once), func() {
		marked = true
		if err := errors.Join(log.SaveCheckpoint(1300, best, 5), log.MarkBest(1300)); err != nil {
			t.Error(err)
		}
	}}, Options{Log: logged(&said)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if step := s.models[0].current.Step; !marked || step != 1200 {
		t.Fatalf("marked: %v, the checkpoint of step %d is loaded", marked, step)
	}
	if err := errors.Join(s.Reload(), s.Reload()); err != nil || fmt.Sprint(said) != "[copy: loaded the checkpoint of update 1300]" {
		t.Errorf("said %q, %v", said, err)
	}
}

// A best checkpoint that is damaged or missing is reported at the start, and what else is noted of a checkpoint whenever one is loaded: that of
// copier is of an earlier version. Caught when planted: notes that are dropped at the start, and when a checkpoint is loaded.
func TestNotes(t *testing.T) {
	const early = "an earlier version wrote it, and it does not say with which vocabulary it was trained"
	for want, do := range map[string]func(best string) error{
		"step-000001300.safetensors: damaged: ": func(best string) error { return os.WriteFile(best, []byte("damaged"), 0o600) },
		"best.json marks update 1300 as best: ": os.Remove,
	} {
		dir := copied(t, "copy")
		log, best := resumed(t, dir)
		if err := errors.Join(log.SaveBest(1300, best, 5), do(log.CheckpointPath(1300))); err != nil {
			t.Fatal(err)
		}
		var said []string
		s, _ := opened(t, Options{Log: func(line string) { said = append(said, line) }}, dir)
		if len(said) != 2 || !strings.HasPrefix(said[0], "copy: serving update 1200: ") || !strings.Contains(said[0], want) || said[1] != "copy: serving update 1200: checkpoint of update 1200: "+early {
			t.Errorf("at the start %q, want %q", said, want)
		}
		said = nil
		if err := log.SaveBest(1400, best, 5); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(); err != nil || len(said) != 2 || said[0] != "copy: serving update 1400: checkpoint of update 1400: "+early || said[1] != "copy: loaded the checkpoint of update 1400" {
			t.Errorf("after a better checkpoint %q, %v", said, err)
		}
	}
}

// Without an interval nothing is followed, and nothing panics. Caught when planted: a ticker of interval 0.
func TestFollowWithoutInterval(t *testing.T) {
	s, _ := opened(t, Options{})
	for _, interval := range []time.Duration{0, -time.Second} {
		s.Follow(t.Context(), interval) // returns at once: the context does not end
	}
}
