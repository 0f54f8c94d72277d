// Package runlog reads and writes run directories, which contain everything a training run stores. One process writes a run
// directory; any process can read it.
//
//	config.json                        the complete configuration
//	metrics.jsonl                      one JSON object per line, in order of steps, each line with a checksum
//	events.out.tfevents.*              the same figures, speed and pictures for TensorBoard, a file for each process that trained it
//	checkpoints/step-000001000.safetensors   weights and all other state that a resume needs
//	checkpoints/*.damaged              damaged checkpoints that a resume renamed
//	metrics.jsonl.damaged              metrics with a damaged line that a resume copied
//	paths.json                         from where relative paths in config.json lead to the data
//	sessions.json                      which builds, backends and processors trained it, and for how long
//	best.json                          the step of the best checkpoint, with a checksum
//	traces/                            traces of single inputs
//	export/                            model.safetensors, config.json and, with subwords, tokenizer.json, for other programs
//	lock                               locked while a process writes
//
// Files other than metrics.jsonl and events are written atomically: to a temporary file, which is synced and renamed. Every file
// of JSON records in "version" which version of this program wrote it.
package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"universal-transformer/internal/atomicfile"
)

const (
	configFile    = "config.json"
	metricsFile   = "metrics.jsonl"
	bestFile      = "best.json"
	lockFile      = "lock"
	checkpointDir = "checkpoints"
	traceDir      = "traces"
	exportDir     = "export"
)

// Errors of Create, Open and Resume, for errors.Is.
var (
	ErrNotRun = errors.New("not a run directory")
	ErrExists = errors.New("already holds a run")
	ErrInUse  = errors.New("in use")
)

// ErrLockLost is the error of writing to a run whose lock file was removed or replaced since it was opened.
var ErrLockLost = errors.New("the lock was removed or replaced")

// errNoName is the error of a run directory "", which file paths would take for the working directory.
var errNoName = errors.New(`the run directory is "": name a folder, or "." for the working directory`)

// errReader is the error of writing to a run that was opened with Open.
var errReader = errors.New("the run is open for reading only: use Resume to write")

// A Run is an open run directory. Open returns one for reading; Create and Resume return one for writing, which excludes other
// writers until Close or the end of the process. A Run is not safe for concurrent use.
type Run struct {
	dir     string
	lock    *os.File // nil: open for reading
	metrics *os.File // nil: open for reading
	made    bool     // Create made the directory
	last    int64    // step of the last row of metrics.jsonl
	size    int64    // size of metrics.jsonl in bytes
	damage  error    // of metrics.jsonl, before Truncate

	events     *os.File // nil: this process has written no event
	eventsSize int64    // in bytes
}

// Open opens a run directory for reading. Another process may be writing it.
func Open(dir string) (*Run, error) {
	if dir == "" {
		return nil, errNoName
	}
	r := &Run{dir: dir}
	if _, err := os.Stat(r.path(configFile)); err != nil {
		if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is %w: it does not exist", dir, ErrNotRun)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is %w: it has no %s%s", dir, ErrNotRun, configFile, runsIn(dir))
		}
		if info, wrong := os.Stat(dir); wrong == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is %w: it is a file", dir, ErrNotRun)
		}
		return nil, err
	}
	return r, nil
}

// Resume opens a run directory for writing, and removes files that a killed process left half-written. The error is ErrInUse if another
// process is writing it.
func Resume(dir string) (*Run, error) {
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if r.lock, err = acquire(r.path(lockFile)); err != nil {
		return nil, err
	}
	err = os.MkdirAll(r.path(checkpointDir), 0o755)
	if err == nil {
		err = r.removeUnfinished()
	}
	if err == nil {
		err = r.openMetrics()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot resume %s: %w", dir, err), r.Close())
	}
	return r, nil
}

// removeUnfinished removes files that killed processes left half-written. A process that is writing a trace or an export at this moment gets an
// error.
func (r *Run) removeUnfinished() error {
	var failed error
	for _, folder := range []struct {
		path string
		ours func(file string) bool
	}{
		{r.dir, isRunFile},
		{r.path(checkpointDir), func(file string) bool { _, ok := stepOf(file); return ok }},
		{r.path(traceDir), func(string) bool { return true }}, // the caller of WriteTrace names them
		{r.path(exportDir), func(file string) bool { return slices.Contains(exportFiles, file) }},
	} {
		if err := atomicfile.Sweep(folder.path, folder.ours); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// The files that are written atomically, in the run directory and in export.
var (
	runFiles    = []string{configFile, bestFile, "vocabulary.json", "tokenizer.json", "changes.json", "sessions.json", "paths.json"}
	exportFiles = []string{configFile, modelFile, "tokenizer.json", "model.onnx", "encoder.onnx", "step.onnx"}
)

func isRunFile(name string) bool {
	return slices.Contains(runFiles, name) || strings.HasPrefix(name, metricsFile+damagedSuffix)
}

// IsUnfinished reports whether the name of a file in a run directory is that of one that a killed process left half-written.
func IsUnfinished(name string) bool {
	file, ok := atomicfile.Unfinished(name)
	return ok && isRunFile(file)
}

// Close ends writing and releases the lock. It does nothing on a reader and when called again.
func (r *Run) Close() error {
	err := r.closeFiles()
	if r.lock != nil {
		err = errors.Join(err, release(r.lock))
	}
	r.lock = nil
	return err
}

// closeFiles closes the files of a writer, except its lock.
func (r *Run) closeFiles() error {
	var err error
	if r.metrics != nil {
		err = errors.Join(atomicfile.Sync(r.metrics), r.metrics.Close())
	}
	if r.events != nil {
		err = errors.Join(err, r.events.Close())
	}
	r.metrics, r.events = nil, nil
	return err
}

// Dir returns the directory's path, as given.
func (r *Run) Dir() string { return r.dir }

func (r *Run) path(elements ...string) string {
	return filepath.Join(append([]string{r.dir}, elements...)...)
}

// WriteTrace writes a file to traces/ and returns its path. It also works on a run that is open for reading.
func (r *Run) WriteTrace(name string, content []byte) (string, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("trace %q: the name must be a file name without folders", name)
	}
	if err := os.MkdirAll(r.path(traceDir), 0o755); err != nil {
		return "", err
	}
	path := r.path(traceDir, name)
	return path, r.write(path, content)
}

// runsIn names some run directories in a folder, for the error of one that is none; "" if there are none.
func runsIn(dir string) string {
	const limit = 3
	found, _ := fs.Glob(os.DirFS(dir), "*/"+configFile)
	if len(found) == 0 {
		return ""
	}
	list := make([]string, 0, limit)
	for _, path := range found[:min(len(found), limit)] {
		list = append(list, filepath.Join(dir, filepath.Dir(path)))
	}
	rest := ""
	if len(found) > limit {
		rest = fmt.Sprintf(" and %d more", len(found)-limit)
	}
	return "; runs in it are " + strings.Join(list, ", ") + rest
}
