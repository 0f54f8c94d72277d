package runlog_test

import (
	"os"
	"testing"
	"time"
)

// Files of the same step and size differ in their digests, also if they were modified at the same time; a file that is changed or cut off
// differs from what it was; a file that is read again does not.
// Caught when planted: no digest; no size; seconds in place of nanoseconds; a digest behind the header; no check of the length.
func TestIdentity(t *testing.T) {
	one, other, when := create(t), create(t), time.Unix(1e9, 0)
	save(t, one, 0, 7)
	changed := checkpoint(t, 7)
	changed.Tensors[0].Data[0]++
	if err := other.SaveCheckpoint(7, changed, 0); err != nil {
		t.Fatal(err)
	}
	path := one.CheckpointPath(7)
	seen := map[string]string{}
	for _, state := range []struct {
		name string
		of   interface {
			Identity(step int64) (string, error)
		}
		do func() error
	}{
		{"one run", one, func() error { return os.Chtimes(path, when, when) }},
		{"another run", other, func() error { return os.Chtimes(other.CheckpointPath(7), when, when) }},
		{"modified later", one, func() error { return os.Chtimes(path, when, when.Add(time.Microsecond)) }},
		{"cut off", one, func() error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.Truncate(path, info.Size()-1); err != nil {
				return err
			}
			return os.Chtimes(path, when, when)
		}},
		{"too short for a header", one, func() error { return os.Truncate(path, 5) }},
		{"missing", one, func() error { return os.Remove(path) }},
	} {
		if err := state.do(); err != nil {
			t.Fatal(err)
		}
		identity, err := state.of.Identity(7)
		again, errAgain := state.of.Identity(7)
		if err != nil || errAgain != nil || identity != again || (identity == "") != (state.name == "missing") {
			t.Errorf("%s: %q, %v, then %q, %v", state.name, identity, err, again, errAgain)
		}
		if before, known := seen[identity]; known {
			t.Errorf("%s is like %s: %s", state.name, before, identity)
		}
		seen[identity] = state.name
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if identity, err := one.Identity(7); err == nil {
		t.Errorf("a folder has the identity %q", identity)
	}
}
