package runlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files of a run belong to it, also before they exist and through links; what others put into its folder does not.
// Caught when planted: files of checkpoints without an owner; other files of an export with one; a link that is not followed; a folder
// without metrics that is no run; a link above folders that do not exist.
func TestOwnerOf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, configFile), link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, traceDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, traceDir), filepath.Join(filepath.Dir(dir), "to-traces")); err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	check := func(path string, want bool) {
		t.Helper()
		owner, owned := OwnerOf(path)
		if owned != want || owned && owner != folder {
			t.Errorf("%s: %q, %v", path, owner, owned)
		}
	}
	for name, want := range map[string]bool{
		"config.json": true, "metrics.jsonl": true, "metrics.jsonl.damaged": true, "best.json": true, "vocabulary.json": true, "tokenizer.json": true,
		"lock": true, "events.out.tfevents.0000000001": true, "checkpoints/step-000000001.safetensors": true, "checkpoints": true,
		"export/config.json": true, "export/notes.txt": false, "traces/12.html": false, "wrong.tsv": false, "../config.json": false,
	} {
		check(filepath.Join(dir, filepath.FromSlash(name)), want)
	}
	check(link, true)
	for name, want := range map[string]string{
		"": "is a run directory", "checkpoints": "in the checkpoints of", "checkpoints/a": "in the checkpoints of", "checkpoints/a/b": "in the checkpoints of",
		"traces": "in the traces of", "traces/a": "in the traces of", "export": "in the export of", "export/a/b": "in the export of",
		"../to-traces/a/b/c": "in the traces of", "more": "", "../checkpoints": "", "../traces": "", "../export": "", "../other": "",
	} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := CheckFolder(at); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: the error is %v, want %q", at, err, want)
		}
	}
	for _, name := range []string{checkpointDir, traceDir, exportDir} {
		if _, err := Create(filepath.Join(dir, name, "inner"), map[string]int{"a": 1}); err == nil || !strings.Contains(err.Error(), "in the "+name+" of") {
			t.Errorf("a run in the %s of another: the error is %v", name, err)
		}
	}
	if files := Files(dir); len(files) < 2 {
		t.Errorf("the run has the files %q", files)
	}
	if err := os.Remove(filepath.Join(dir, metricsFile)); err != nil {
		t.Fatal(err)
	}
	check(filepath.Join(dir, configFile), true)
	check(filepath.Join(t.TempDir(), configFile), false)
}
