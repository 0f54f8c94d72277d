#!/usr/bin/env bash
# Runs a service and a training beside each other for two hours, with clients of many kinds, and compares their memory and goroutines early
# and late:
#
#	scripts/soak.sh [--time 2h] [--clients N] [--pause 200ms] [--every 30s] [--out FILE]
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
go build -o bin/soak ./internal/cmd/soak
exec bin/soak "$@"
