package runlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
)

// Files of a run are written by its writer and read by anybody; what is missing is an error of fs. An export may be written by a reader.
// Caught when planted: a configuration in another file; a file of a reader; an export in the run directory.
func TestFilesOfARun(t *testing.T) {
	r := create(t)
	changed := config{Task: "copy", Steps: 9}
	if err := errors.Join(r.WriteConfig(changed), r.WriteFile("tokenizer.json", []byte("any format"))); err != nil {
		t.Fatal(err)
	}
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var back config
	if err := reader.Config(&back); err != nil || back != changed {
		t.Errorf("the configuration is %+v, %v", back, err)
	}
	if data, err := reader.ReadFile("tokenizer.json"); err != nil || string(data) != "any format" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := reader.ReadFile("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
	if err := reader.ReadJSON("nothing.json", &back); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("JSON that is missing: %v", err)
	}
	for name, err := range map[string]error{"WriteFile": reader.WriteFile("x", nil), "WriteConfig": reader.WriteConfig(changed)} {
		if err == nil || !strings.Contains(err.Error(), "open for reading only") {
			t.Errorf("%s of a reader: %v", name, err)
		}
	}
	if err := r.WriteJSON("list.json", []int{1}); err == nil || !strings.HasPrefix(err.Error(), "list.json: []int does not encode") {
		t.Errorf("a list: %v", err)
	}
	if err := os.RemoveAll(reader.ExportDir()); err != nil {
		t.Fatal(err)
	}
	if err := reader.WriteExportFile("tokenizer.json", []byte("exported")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(r.Dir(), "export", "tokenizer.json")); got != "exported" {
		t.Errorf("the export holds %q", got)
	}
	model := &safetensors.File{Metadata: map[string]string{"a": "b"}}
	if dir, err := reader.WriteExport(model, example); err != nil || dir != reader.ExportDir() || len(model.Metadata) != 1 {
		t.Errorf("exported to %s, %v; the metadata of the caller are %v", dir, err, model.Metadata)
	}
	if _, err := runlog.ReadExport(reader.ExportDir(), &struct{}{}); err == nil || !strings.Contains(err.Error(), "config.json: unknown key") {
		t.Errorf("a configuration of another kind: %v", err)
	}
	if err := runlog.CheckVacant(r.Dir()); !errors.Is(err, runlog.ErrExists) {
		t.Errorf("the directory of a run is vacant: %v", err)
	}
	if err := errors.Join(runlog.CheckVacant(t.TempDir()), runlog.CheckVacant(filepath.Join(t.TempDir(), "new"))); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
}

// A directory in which Create could write nothing is not vacant, and looking leaves nothing behind.
// Caught when planted: only the folder above looked at, a link to nothing taken for a folder to be made, files that remain.
func TestVacantWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "missing"), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(file, "run"), filepath.Join(file, "a", "run"), link, filepath.Join(link, "run")} {
		if err := runlog.CheckVacant(dir); err == nil || !strings.HasPrefix(err.Error(), "cannot create run directory: ") {
			t.Errorf("%s is vacant: %v", dir, err)
		}
	}
	deep := filepath.Join(t.TempDir(), "a", "b", "run")
	if err := runlog.CheckVacant(deep); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(filepath.Dir(filepath.Dir(deep)))); err != nil || len(left) > 0 {
		t.Errorf("CheckVacant leaves %v, %v", left, err)
	}
}

// A mark of the best checkpoint without a step is damaged. What cannot be read is not.
func TestMarkWithoutAStep(t *testing.T) {
	r := create(t)
	save(t, r, 0, 10)
	path := filepath.Join(r.Dir(), "best.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{r.Truncate(5), r.SaveCheckpoint(20, checkpoint(t, 20), 1)} {
		if !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), `best.json: damaged: key "step" is missing`) {
			t.Errorf("%v", err)
		}
	}
	there(t, r, 10, 20) // nothing is removed
	makeUnreadable(t, path)
	if _, marked, err := r.Marked(); err == nil || errors.Is(err, runlog.ErrDamaged) || marked {
		t.Errorf("a mark that cannot be read: %v, %v", marked, err)
	}
}

// Metrics that a reader has followed and that are shorter now, or are no lines behind the offset, are damaged. Exactly as many bytes as were read
// are no rows.
func TestFollowShorterMetrics(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2)
	size := r.MetricsSize()
	const broken = "not a JSON object"
	for _, c := range []struct {
		offset, next int64
		want         string
	}{{size + 1, 0, "metrics.jsonl has become shorter"}, {1, 1, "metrics.jsonl: after byte 1, line 1: " + broken}, {3, 3, "metrics.jsonl: after byte 3, line 1: " + broken}} {
		rows, next, err := r.NewMetrics(c.offset)
		if !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), c.want) || rows != nil || next != c.next {
			t.Errorf("from byte %d: %v to %d, %v", c.offset, rows, next, err)
		}
	}
	if rows, next, err := r.NewMetrics(size); len(rows) != 0 || next != size || err != nil {
		t.Errorf("from the end: %v to %d, %v", rows, next, err)
	}
	whole := content(t, metricsPath(r))
	if err := os.WriteFile(metricsPath(r), []byte(whole+"rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from int64
		rows int
		want string
	}{{0, 2, "metrics.jsonl:4: " + broken}, {size, 0, fmt.Sprintf("metrics.jsonl: after byte %d, line 1: %s", size, broken)}} {
		rows, next, err := r.NewMetrics(c.from)
		if !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), c.want) || len(rows) != c.rows || next != size {
			t.Errorf("before the damage, from byte %d: %v to %d, %v", c.from, rows, next, err)
		}
	}
	makeUnreadable(t, metricsPath(r))
	rows, next, err := r.NewMetrics(0)
	if err == nil || errors.Is(err, runlog.ErrDamaged) || rows != nil || next != 0 {
		t.Errorf("a file that cannot be read: %v to %d, %v", rows, next, err)
	}
	if _, err := r.Metrics(); err == nil || errors.Is(err, runlog.ErrDamaged) {
		t.Errorf("a file that cannot be read has metrics, %v", err)
	}
}

// A resumed writer knows the step of the last row, of one row or of several.
func TestResumedWriterKnowsTheLastStep(t *testing.T) {
	r := create(t)
	for _, step := range []int64{5, 7} {
		appendRows(t, r, step)
		r = reopen(t, r)
		if err := r.AppendMetrics(row{Step: step - 1}); err == nil || !strings.Contains(err.Error(), "comes after step") {
			t.Errorf("step %d after step %d: %v", step-1, step, err)
		}
	}
}

// The event file of a process is the next after those that are there, also after one that the future made. Resetting a run to before step 0
// removes all events; this process then begins a new file.
func TestEventFiles(t *testing.T) {
	r := create(t)
	future := "events.out.tfevents.9000000000"
	if err := os.WriteFile(filepath.Join(r.Dir(), future), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := tensorboard.Event{Time: 3, Scalars: []tensorboard.Scalar{{Tag: runlog.SecondsTag, Value: 2}}}
	if err := r.AppendEvent(first); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, r, 1)
	if names := eventFiles(t, r); len(names) != 2 || names[1] != "events.out.tfevents.9000000001" {
		t.Errorf("event files %v", names)
	}
	if err := r.Truncate(-1); err != nil {
		t.Fatal(err)
	}
	if names := eventFiles(t, r); len(names) != 1 || names[0] != future {
		t.Errorf("before step 0 there are %v", names)
	}
	appendEvents(t, r, 1, 2)
	if all, err := r.Events(); err != nil || len(all) != 4 || all[0].FileVersion == "" || !all[1].Restart || all[1].Step != 1 || all[3].Step != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// The names of checkpoints hold the whole range of steps, and no other number.
func TestNamesOfCheckpoints(t *testing.T) {
	r := create(t)
	for _, name := range []string{"step-", "step-x", "step-9223372036854775808", "step-00000000x", "000000007", "step--00000001"} {
		if err := os.WriteFile(filepath.Join(r.Dir(), "checkpoints", name+".safetensors"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there(t, r)
	save(t, r, 0, 9223372036854775807, 0)
	there(t, r, 0, 9223372036854775807)
}

// A file of events that cannot be read is an error, beside the events of the others; its offset stays.
// Caught when planted: an error that is lost; one that ends the reading.
func TestUnreadableEvents(t *testing.T) {
	r := create(t)
	appendEvents(t, r, 1, 2)
	r = reopen(t, r)
	appendEvents(t, r, 3)
	names := eventFiles(t, r)
	first, second := filepath.Join(r.Dir(), names[0]), filepath.Join(r.Dir(), names[1])
	offsets := map[string]int64{first: -5}
	all, err := r.NewEvents(offsets)
	if err == nil || len(all) != 3 || all[2].Step != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	if info, err := os.Stat(second); err != nil || offsets[second] != info.Size() || offsets[first] != -5 {
		t.Errorf("read up to %v of %v, %v", offsets, info.Size(), err)
	}
}
