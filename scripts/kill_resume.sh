#!/usr/bin/env bash
# Kills training at random moments, resumes it, and compares what it comes to with training that nobody killed: metrics byte
# for byte, weights bit for bit. Damaged checkpoints and Ctrl-C as well.
#
#   scripts/kill_resume.sh [KILLED RUNS, default 20] [BACKEND]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go test ./cmd/ut -count 1 -v -timeout 30m \
	-run '^(TestKillAndResume|TestDamagedCheckpoints|TestInterrupt)$' -kills "${1:-20}" -backend "${2:-cpu}"
