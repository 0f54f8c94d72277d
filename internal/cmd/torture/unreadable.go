//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// unprivilegedUser is a user who owns no other files.
const unprivilegedUser = 65534

// unreadable removes permissions of files and folders of a run, one at a time.
func unreadable(w *world) part {
	var p part
	add := func(name string, mode os.FileMode) {
		p.trials = append(p.trials, trial{fmt.Sprintf("mode %o: %s", mode, name), func(s *scene) { s.without(name, mode) }})
	}
	var newest, best string
	for _, name := range read(w.base).files() {
		if strings.HasSuffix(name, "035.safetensors") {
			best = name
		}
		if !strings.HasPrefix(name, "checkpoints/") {
			add(name, 0)
		}
	}
	newest = read(w.base).newest()
	for _, name := range []string{best, newest, "checkpoints/step-000000028.safetensors", "checkpoints", "export", "traces", "."} {
		add(name, 0)
	}
	for _, name := range []string{"checkpoints", "export", "."} {
		add(name, 0o555)
	}
	for _, name := range []string{"config.json", "metrics.jsonl", "best.json", "lock"} {
		add(name, 0o444)
	}
	return p
}

// without runs all commands on a copy of the base run in which a file or folder has only the given permissions, as a user to whom
// permissions apply.
func (s *scene) without(name string, mode os.FileMode) {
	s.copyOf(s.base, "run")
	user, err := s.handOver()
	if err != nil {
		s.note("", skipped, err.Error())
		return
	}
	path := filepath.Join(s.dir, "run", name)
	before := read(filepath.Join(s.dir, "run"))
	for _, a := range append(slices.Clone(queries), resuming) {
		must(os.Chmod(path, mode))
		r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin), user: user})
		must(os.Chmod(path, mode|0o700))
		after := read(filepath.Join(s.dir, "run"))
		same := r.stdout == s.answers[a.name]
		if a.name == resuming.name {
			same = s.final.differs(after, name) == ""
		}
		c := r.fault()
		switch {
		case c != "":
		case r.code != 0:
			if c = r.refusal("run/"+name, filepath.Base(path)); c == refused {
				if lost := before.missing(after); len(lost) > 0 {
					s.note(a.name, loss, fmt.Sprint(lost))
					continue
				}
			}
		case same:
			c = harmless
		default:
			c = silent
		}
		s.note(a.name, c, r.says())
	}
}

// resuming is the command that resumes the base run.
var resuming = query{"resume", []string{"train", "--resume", "run"}, ""}

// handOver gives the trial's folder to a user to whom permissions apply, which is the current user unless it is root.
func (s *scene) handOver() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	err := filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, unprivilegedUser, unprivilegedUser)
	})
	if err != nil {
		return nil, fmt.Errorf("root may not give files away here: %w", err)
	}
	user := &syscall.Credential{Uid: unprivilegedUser, Gid: unprivilegedUser, NoSetGroups: true}
	if r := s.run(call{args: []string{"version"}, user: user}); r.code != 0 {
		return nil, fmt.Errorf("root may not run a program as another user here: %s", r.says())
	}
	return user, nil
}
