#!/usr/bin/env bash
# Puts ut serve under load for five minutes, then sends it 10,000 hostile requests, and prints answers, latencies, throughput and memory:
#
#	scripts/serve_load.sh [--time 5m] [--clients 32] [--hostile 10000] [--ratio 3] [--run models/reverse] [--prompts FILE]
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
go build -o bin/ut ./cmd/ut
go build -o bin/serveload ./internal/cmd/serveload
exec bin/serveload "$@"
