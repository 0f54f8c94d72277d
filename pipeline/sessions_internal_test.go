package pipeline

import (
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// A session has the CPU time of all ranks and their number; a single process records no number.
func TestSessionAddsRanks(t *testing.T) {
	log, err := runlog.Create(t.TempDir()+"/run", map[string]int{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := beginSession(log, enginetest.Backend(t), Callbacks{})
	count := s.counted(nil)
	count(training.Progress{Ranks: 1})
	if s.own.Ranks != 0 {
		t.Errorf("one process records %d ranks", s.own.Ranks)
	}
	count(training.Progress{Ranks: 3, OthersCPU: 1e6})
	count(training.Progress{Ranks: 3, OthersCPU: 2e6})
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	sessions, err := readSessions(log)
	if err != nil || len(sessions) != 1 || sessions[0].Ranks != 3 || sessions[0].Updates != 3 || sessions[0].CPUSeconds < 2e6 || sessions[0].CPUSeconds > 2e6+1e5 {
		t.Errorf("%+v, %v", sessions, err)
	}
}
