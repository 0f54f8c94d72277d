package runlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"universal-transformer/internal/tensorboard"
)

// eventPrefix begins the names of event files, as TensorBoard expects. A number follows, the second in which the file was made, or a later one, so
// that the order of names is that of the files.
const eventPrefix = "events.out.tfevents."

// SpeedGroup begins the tags of events that are not in metrics.jsonl because they depend on the machine. SecondsTag is the time of training
// in seconds, which every event with figures has.
const (
	SpeedGroup = "speed/"
	SecondsTag = SpeedGroup + "seconds"
)

// AppendEvent appends an event to the event file of this process, which is made for the first one. Its first events are the version of the
// format, and a restart at the event's step. After an error no part of the event remains in the file.
func (r *Run) AppendEvent(e tensorboard.Event) error {
	if r.lock == nil {
		return errReader
	}
	if r.events == nil {
		if err := r.openEvents(e); err != nil {
			return err
		}
	}
	record := e.Record()
	if _, err := r.events.Write(record); err != nil {
		return errors.Join(err, r.events.Truncate(r.eventsSize))
	}
	r.eventsSize += int64(len(record))
	return nil
}

// openEvents makes the event file of this process.
func (r *Run) openEvents(first tensorboard.Event) error {
	files, err := r.eventFiles()
	if err != nil {
		return err
	}
	name := eventName(time.Now().Unix())
	if len(files) > 0 {
		if newest := filepath.Base(files[len(files)-1]); newest >= name {
			name = eventName(eventNumber(newest) + 1)
		}
	}
	start := tensorboard.Event{Time: first.Time, FileVersion: tensorboard.FileVersion}.Record()
	start = append(start, tensorboard.Event{Time: first.Time, Step: first.Step, Restart: true}.Record()...)
	f, err := os.OpenFile(r.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(start); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	r.events, r.eventsSize = f, int64(len(start))
	return nil
}

func eventName(number int64) string { return fmt.Sprintf("%s%010d", eventPrefix, number) }

// eventNumber returns the number in the name of an event file; 0 if there is none.
func eventNumber(name string) (n int64) {
	_, _ = fmt.Sscan(strings.TrimPrefix(name, eventPrefix), &n)
	return n
}

// IsEventFile reports whether the name of a file in a run directory is that of an event file.
func IsEventFile(name string) bool { return strings.HasPrefix(name, eventPrefix) }

// eventFiles returns the paths of the event files, in order.
func (r *Run) eventFiles() (list []string, err error) {
	entries, err := os.ReadDir(r.dir) // sorted by name
	for _, e := range entries {
		if IsEventFile(e.Name()) && e.Type().IsRegular() {
			list = append(list, r.path(e.Name()))
		}
	}
	return list, err
}

// Events returns all events in the order in which they were written. An incomplete last one of a file is ignored, as are those after a damaged
// one in the same file.
func (r *Run) Events() (all []tensorboard.Event, err error) {
	return r.NewEvents(map[string]int64{})
}

// NewEvents is like Events, for the events behind the given offsets of files, which it moves behind the events that it returns. If a file cannot be
// read, it returns the events of the others and the error.
func (r *Run) NewEvents(offsets map[string]int64) (all []tensorboard.Event, err error) {
	files, err := r.eventFiles()
	for _, path := range files {
		content, problem := readFrom(path, offsets[path])
		if problem != nil && !errors.Is(problem, fs.ErrNotExist) { // a resume removes files
			err = cmp.Or(err, problem)
		}
		events, ends, _ := tensorboard.Parse(content)
		if all = append(all, events...); len(ends) > 0 {
			offsets[path] += ends[len(ends)-1]
		}
	}
	return all, err
}

// truncateEvents removes the events of later steps. A file without other events is removed. What follows a damaged event is left alone, as no
// reader gets there.
func (r *Run) truncateEvents(afterStep int64) error {
	files, err := r.eventFiles()
	if err != nil {
		return err
	}
	if r.events != nil { // the next event begins a new file
		if err := r.events.Close(); err != nil {
			return err
		}
		r.events = nil
	}
	for _, path := range files {
		content, err := read(path)
		if err != nil {
			return err
		}
		events, ends, _ := tensorboard.Parse(content)
		later := slices.IndexFunc(events, func(e tensorboard.Event) bool { return e.Step > afterStep })
		switch {
		case later < 0:
		case slices.ContainsFunc(events[:later], tensorboard.Event.HasValues):
			err = os.Truncate(path, ends[later-1])
		default:
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
