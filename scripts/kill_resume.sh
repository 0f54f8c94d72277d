#!/usr/bin/env bash
# Kills training at random moments, resumes it, and compares the result with uninterrupted training: metrics byte for byte, weights bit for
# bit. It also tests damaged checkpoints and Ctrl-C.
#
#   scripts/kill_resume.sh [KILLED RUNS, default 20] [BACKEND]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test ./cmd/ut -count 1 -v -timeout 30m \
	-run '^(TestKillAndResume|TestDamagedCheckpoints|TestInterrupt)$' -kills "${1:-20}" -backend "${2:-cpu}"
