#!/usr/bin/env bash
# Injects faults into the program: damaged run directories, kills, unreadable files, limits, full disks, signals, hostile input, many requests of a
# service at once. It prints the outcomes by class and `N passed, N failed`. Randomness is derived from the seed; kills and signals also
# depend on the speed of the machine.
#
#   scripts/torture.sh [--quick] [--seed N] [--only 'flip 17'] [--program FILE] [--jobs N] [--keep]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./internal/cmd/torture "$@"
