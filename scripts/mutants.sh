#!/usr/bin/env bash
# Makes small changes to the code of some packages, one at a time, and counts how many of these mutants the tests notice:
#
#	scripts/mutants.sh [--seed N] [--count N] [--time 1h] [--jobs N] [--only REGEXP] [--again] [--report] [PACKAGE ...]
#
# Outcomes are kept in bin/mutants.jsonl, so that the next call continues. internal/cmd/mutants/explained.txt says why some survive.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin
go build -o bin/mutants ./internal/cmd/mutants
ulimit -v 16000000 # kilobytes: a mutant may allocate without end
exec nice -n 10 bin/mutants "$@"
