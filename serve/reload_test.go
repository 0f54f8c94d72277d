package serve

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/training"
)

// A better checkpoint is loaded while requests are answered; they keep the old one. One that cannot be loaded changes nothing.
// Caught when planted: the old model closed at once; a checkpoint loaded again at each look.
func TestReload(t *testing.T) {
	dir := copied(t, "copy")
	var said []string
	s, web := opened(t, Options{Log: logged(&said)}, dir)
	if err := s.Reload(); err != nil || len(said) > 0 {
		t.Fatalf("nothing is new, but %q, %v", said, err)
	}
	log, best := resumed(t, dir)
	if err := log.SaveCheckpoint(1300, best, 5); err != nil {
		t.Fatal(err)
	}
	if err := log.MarkBest(1300); err != nil {
		t.Fatal(err)
	}
	old, err := s.models[0].use()
	if err := errors.Join(err, s.Reload(), s.Reload()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(said) != "[copy: loaded the checkpoint of update 1300]" {
		t.Errorf("said %q", said)
	}
	if _, text := send(t, web, http.MethodGet, "/v1/models", ""); !strings.Contains(text, `"step":1300`) {
		t.Errorf("models after reloading: %s", text)
	}
	if old.Step != 1200 {
		t.Errorf("the old model is of step %d", old.Step)
	}
	if got := post[completion](t, web, "/v1/completions", `{"prompt": "2026"}`).texts(); got[0] != "2026 stop" {
		t.Errorf("after reloading: %q", got)
	}
	old.users.Done()
}

// Another run with a best checkpoint of the same step is loaded: where a symbolic link leads to it, and where a folder was replaced. So is
// a checkpoint that was not complete at the last look. Each is loaded once. Caught when planted: a comparison of steps alone.
func TestAnotherRunOfTheSameStep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	run, other := copied(t, "run"), copied(t, "other")
	log, best := resumed(t, other)
	for _, p := range training.Parameters(best.Tensors) {
		clear(p.Data) // a model that answers differently
	}
	if err := errors.Join(log.SaveBest(1200, best, 5), os.Symlink(run, dir)); err != nil {
		t.Fatal(err)
	}
	checkpoint := log.CheckpointPath(1200)
	complete, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	s, web := opened(t, Options{Log: logged(&said)}, dir)
	follower := s.watched()[0]
	for i, step := range []struct {
		do     func() error
		said   string
		copies bool // the model that is served
	}{
		{func() error { return nil }, "[]", true},
		{func() error { return errors.Join(os.Remove(dir), os.Symlink(other, dir)) }, "[copy: loaded the checkpoint of update 1200]", false},
		{func() error { return errors.Join(os.Remove(dir), os.CopyFS(dir, os.DirFS(run))) }, "[copy: loaded the checkpoint of update 1200]", true},
		{func() error {
			return errors.Join(os.RemoveAll(dir), os.Truncate(checkpoint, 5000), os.Symlink(other, dir))
		}, "no checkpoint can be used", true},
		{func() error { return os.WriteFile(checkpoint, complete, 0o600) }, "[copy: loaded the checkpoint of update 1200]", false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		said = nil
		follower.look()
		follower.look()
		if !strings.Contains(fmt.Sprint(said), step.said) || len(said) > 1 {
			t.Errorf("look %d says %q, want %q", i, said, step.said)
		}
		if got := post[completion](t, web, "/v1/completions", `{"prompt": "2026"}`).texts(); (got[0] == "2026 stop") != step.copies {
			t.Errorf("look %d: the model answers %q", i, got)
		}
	}
}

// A mark that cannot be read, and a run directory that is gone, are logged once each while following, and again when they come back; the
// model stays. Reload says it each time. Caught when planted: errors that are dropped, an error at every look, one that is not forgotten,
// an error that Reload returns once.
func TestMarkThatCannotBeRead(t *testing.T) {
	dir := copied(t, "copy")
	var said []string
	s, web := opened(t, Options{Log: logged(&said)}, dir)
	follower := s.watched()[0]
	mark, away := filepath.Join(dir, "best.json"), dir+"-away"
	good, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) func() error {
		return func() error { return os.WriteFile(mark, data, 0o600) }
	}
	for i, c := range []struct {
		do   func() error
		want string // what is wrong, "" for nothing
		said bool
	}{
		{write(good), "", false}, {write([]byte("{")), "best.json", true}, {write([]byte("{")), "best.json", false}, {write(good), "", false}, {write([]byte("{")), "best.json", true},
		{func() error { return os.Rename(dir, away) }, "is not a run directory", true}, {func() error { return nil }, "is not a run directory", false},
		{func() error { return os.Rename(away, dir) }, "best.json", true},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		said = nil
		follower.look()
		if (len(said) == 1) != c.said || len(said) > 1 || c.said && !stays(said[0], c.want) {
			t.Errorf("look %d says %q, want %q", i, said, c.want)
		}
		for range 2 {
			if err := s.Reload(); (err != nil) != (c.want != "") || err != nil && !stays(err.Error(), c.want) {
				t.Errorf("after look %d, Reload returns %v, want %q", i, err, c.want)
			}
		}
	}
	if got := post[completion](t, web, "/v1/completions", `{"prompt": "2026"}`).texts(); got[0] != "2026 stop" {
		t.Errorf("the model answers %q", got)
	}
}

// stays reports whether a line says that the first checkpoint of copier stays, and why.
func stays(line, why string) bool {
	return strings.HasPrefix(line, "copy: the best checkpoint was not loaded, the one of update 1200 stays: ") && strings.Contains(line, why)
}

// A checkpoint that could not be loaded is loaded once the cause is gone, which need not concern its file: at the next look after the first
// failure, after a pause that grows with the number of failures, and always by Reload. The error is logged once. Another checkpoint ends
// the pause. Caught when planted: a checkpoint that counts as tried before it is loaded; no pause; a pause without end.
func TestReloadAfterFailure(t *testing.T) {
	for _, failures := range []int{1, 4, 40} {
		dir := copied(t, "copy")
		log, best := resumed(t, dir)
		var said []string
		s, _ := opened(t, Options{Log: logged(&said)}, dir)
		follower := s.watched()[0]
		config, away := filepath.Join(dir, "vocabulary.json"), filepath.Join(dir, "away.json")
		if err := errors.Join(log.SaveBest(1300, best, 9), os.Rename(config, away)); err != nil {
			t.Fatal(err)
		}
		for range failures {
			follower.look()
		}
		if len(said) != 1 || !stays(said[0], "vocabulary.json") {
			t.Fatalf("after %d looks: %q", failures, said)
		}
		if err := s.Reload(); err == nil || !stays(err.Error(), "vocabulary.json") {
			t.Errorf("after %d looks, Reload returns %v", failures, err)
		}
		if err := os.Rename(away, config); err != nil {
			t.Fatal(err)
		}
		looks := 0
		for ; len(said) == 1 && looks < 100; looks++ {
			follower.look()
		}
		if want := map[int]int{1: 1, 4: 4, 40: 24}[failures]; looks != want || said[1] != "copy: loaded the checkpoint of update 1300" {
			t.Errorf("after %d looks with errors and %d without: %q, want it after %d", failures, looks, said, want)
		}
	}
}

// While a checkpoint is left out, another one that is marked is loaded at once, and so is the same one by Reload.
// Caught when planted: a pause for another checkpoint.
func TestPause(t *testing.T) {
	for name, end := range map[string]func(s *Server, save func() error) error{
		"another checkpoint": func(s *Server, save func() error) error { return save() },
		"Reload":             func(s *Server, _ func() error) error { return s.Reload() },
	} {
		dir := copied(t, "copy")
		log, best := resumed(t, dir)
		var said []string
		s, _ := opened(t, Options{Log: logged(&said)}, dir)
		follower := s.watched()[0]
		config, away := filepath.Join(dir, "vocabulary.json"), filepath.Join(dir, "away.json")
		if err := errors.Join(log.SaveBest(1300, best, 9), os.Rename(config, away)); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			follower.look()
		}
		if follower.pause == 0 {
			t.Fatal("there is no pause")
		}
		if err := errors.Join(os.Rename(away, config), end(s, func() error { return log.SaveBest(1400, best, 9) })); err != nil {
			t.Fatal(err)
		}
		follower.look()
		if len(said) != 2 || !strings.HasPrefix(said[1], "copy: loaded the checkpoint of update 1") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// A checkpoint in whose place another one was loaded at the start is loaded once it is there, and its absence is not logged again.
// Caught when planted: a start that counts as a look.
func TestFollowAfterFallback(t *testing.T) {
	dir := copied(t, "copy")
	log, best := resumed(t, dir)
	if err := log.SaveBest(1300, best, 9); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(log.CheckpointPath(1300), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(log.CheckpointPath(1300))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log.CheckpointPath(1300), whole[:5000], 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	s, _ := opened(t, Options{Log: logged(&said)}, dir)
	follower := s.watched()[0]
	follower.look()
	if err := s.Reload(); len(said) > 0 || err == nil || !stays(err.Error(), "the checkpoint of update 1300 is missing or damaged") {
		t.Errorf("before: %q, %v", said, err)
	}
	if err := os.WriteFile(log.CheckpointPath(1300), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	follower.look()
	if fmt.Sprint(said) != "[copy: loaded the checkpoint of update 1300]" {
		t.Errorf("after: %q", said)
	}
}
