package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/internal/provenance"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// sessionsFile records the processes that trained the run, in order.
const sessionsFile = "sessions.json"

type sessions struct {
	Sessions []provenance.Provenance `json:"sessions"`
}

// saveSession is the interval at which the current session is saved, so that a killed process leaves a record too.
const saveSession = 10 * time.Second

// session is the record of this process in the run directory.
type session struct {
	log    *runlog.Run
	before []provenance.Provenance
	own    provenance.Provenance
	meter  *provenance.Meter
	others float64 // CPU time of other ranks, in seconds
	saved  time.Time
	err    error // of writing
}

// beginSession starts the record of this process.
func beginSession(log *runlog.Run, backend compute.Backend, c Callbacks) *session {
	before, err := readSessions(log)
	if err != nil {
		c.log(fmt.Sprintf("%v: the record of earlier sessions is lost", err))
	}
	return &session{log: log, before: before, own: Provenance(backend), meter: provenance.Start()}
}

// cpuTime returns a function that returns the CPU time that a meter has measured, in seconds.
func cpuTime(m *provenance.Meter) func() float64 {
	return func() float64 {
		_, cpu := m.Seconds()
		return cpu
	}
}

// Provenance describes this process and the backend it computes with, without times.
func Provenance(backend compute.Backend) provenance.Provenance {
	return provenance.Of(backend, backend.DeviceDescription(0))
}

// counted returns a progress callback that counts updates and saves the record at intervals.
func (s *session) counted(progress func(training.Progress)) func(training.Progress) {
	return func(p training.Progress) {
		s.own.Updates++
		if s.others = p.OthersCPU; p.Ranks > 1 {
			s.own.Ranks = p.Ranks
		}
		if now := time.Now(); now.Sub(s.saved) > saveSession {
			s.save()
			s.saved = now
		}
		if progress != nil {
			progress(p)
		}
	}
}

func (s *session) save() {
	s.own.WallSeconds, s.own.CPUSeconds = s.meter.Seconds()
	s.own.CPUSeconds += s.others
	all := append(s.before[:len(s.before):len(s.before)], s.own)
	s.err = s.log.WriteJSON(sessionsFile, sessions{all})
}

// end saves the record, if there were updates or the first has diverged, and stops the meter.
func (s *session) end() error {
	defer s.meter.Stop()
	if s.own.Updates+s.own.Diverged > 0 {
		s.save()
	}
	return s.err
}

func readSessions(log *runlog.Run) ([]provenance.Provenance, error) {
	var all sessions
	if err := log.ReadJSON(sessionsFile, &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for i, s := range all.Sessions {
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("%s: sessions[%d].%w", sessionsFile, i, err)
		}
	}
	return all.Sessions, nil
}

// ReadSessions returns the provenance of the processes that trained the run in a directory, in order. Runs of versions without this
// record have none.
func ReadSessions(dir string) ([]provenance.Provenance, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	return readSessions(log)
}
