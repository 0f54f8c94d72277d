package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"universal-transformer/internal/provenance"
	"universal-transformer/runlog"
)

// Runs are found at any depth, behind a link to a run, and not in hidden folders, exports, or behind links to folders, which might lead
// back. A run itself is found, and nothing within it.
// Caught when planted: an export taken for a run; a link that is followed in circles; runs within runs.
func TestFindRuns(t *testing.T) {
	root := t.TempDir()
	makeRun := func(elements ...string) string {
		dir := filepath.Join(append([]string{root}, elements...)...)
		log, err := runlog.Create(dir, map[string]string{})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	deep, flat := makeRun("b", "c", "deep"), makeRun("flat")
	makeRun(".hidden", "run")
	export := filepath.Join(flat, "export", "config.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(export), 0o700), os.WriteFile(export, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	elsewhere, err := runlog.Create(filepath.Join(away, "run"), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	_ = elsewhere.Close()
	for name, to := range map[string]string{"link": elsewhere.Dir(), "circle": root, "broken": filepath.Join(away, "nothing")} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := FindRuns(root)
	if want := []string{deep, flat, filepath.Join(root, "link")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, %v, want %q", got, err, want)
	}
	if got, err := FindRuns(flat); err != nil || !slices.Equal(got, []string{flat}) {
		t.Errorf("of a run: %q, %v", got, err)
	}
	if got, err := FindRuns(filepath.Join(flat, "export")); err != nil || len(got) != 0 {
		t.Errorf("of an export: %q, %v", got, err)
	}
	if _, err := FindRuns(filepath.Join(root, "nowhere")); err == nil {
		t.Error("a folder that does not exist has runs")
	}
}

// Times of all sessions add up, and the backend is that of the last one; the time of a checkpoint comes before theirs.
// Caught when planted: the time of one session; the first backend.
func TestSessionsOfInfo(t *testing.T) {
	log, err := runlog.Create(filepath.Join(t.TempDir(), "run"), map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	one, two := provenance.Provenance{Backend: "a", WallSeconds: 2, CPUSeconds: 3, Threads: 1}, provenance.Provenance{Backend: "b", WallSeconds: 5, CPUSeconds: 7, Threads: 1}
	if err := log.WriteJSON(sessionsFile, sessions{[]provenance.Provenance{one, two}}); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[float64]float64{0: 7, 4: 4} {
		i := Info{Seconds: before}
		if err := i.readSessions(log); err != nil || i.Seconds != want || i.CPUSeconds != 10 || i.Backend != "b" {
			t.Errorf("%+v, %v", i, err)
		}
	}
	i := Info{}
	i.damage(nil)
	i.damage(os.ErrClosed)
	i.damage(os.ErrExist)
	if i.Problem != os.ErrClosed.Error() {
		t.Errorf("the problem is %q", i.Problem)
	}
}
