#!/usr/bin/env bash
# Runs the race detector on the tests in which goroutines share data: all tests of packages that do little else, and by name those of packages
# whose other tests would take minutes. make race-all runs it on everything. GO=command chooses the go command.
set -euo pipefail
cd "$(dirname "$0")/.."
race() { CGO_ENABLED=1 "${GO:-go}" test -race -timeout 10m "$@"; }

race ./cpu/internal/exec ./runlog ./internal/atomicfile ./internal/batch ./internal/parallel ./internal/queue
race -skip '^TestLongWords$' ./subword

# Half of the rest in the background: linking takes as long as testing, and uses one core.
background() {
	race -run '^Test(SharedExecutable|SameBits|SpareMemory|Conformance|Graphs)$/threads=3' ./cpu
	race -run '^Test(Closed|CallsWhileClosing|InterruptedEarly|Service)$' .
	race -run '^Test(CancelledLineIsOpen|CloseFreesTheDecoder|ConcurrentUse|EvaluateLetsOthersCompute|ExitDuringLargeRequest|InTurns|LargeRequests|OneRequestIsGivenUp|PanicReachesItsCaller|SmallRequestBesideLargeOne|TraceWhileExitChanges)$' ./pipeline
}
background &
race -run '^Test(Close|FollowUnderTraffic|MarkedWhileLoading|Panic|PiecesArriveAtOnce|QueueIsFull|Reload|RequestsEnd|Shutdown|SlowBody|StreamOfSteps|TracesWait)$' ./serve
race -run '^Test(CellsResumeAndAreDoneOnce|FailuresStayAlone|InterruptWhileReading)$' ./sweep
race -run '^Test(AllRanksForget|InterruptedAtOnce|OneRanksErrorIsEverybodys|RanksComeToTheSameBits|StreamsOfBatches)$' ./training
wait $!
