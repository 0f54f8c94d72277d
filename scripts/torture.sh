#!/usr/bin/env bash
# Tortures the program: damaged run directories, kills, unreadable files, limits, full disks, signals, hostile input, many requests of a
# service at once. It prints what came of it by class and `N passed, N failed`. What is random comes from the seed; kills and signals also depend on how fast the machine is.
#
#   scripts/torture.sh [--quick] [--seed N] [--only 'flip 17'] [--program FILE] [--jobs N] [--keep]
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./internal/cmd/torture "$@"
