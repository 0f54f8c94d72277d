#!/usr/bin/env bash
# Runs the fuzz target of every parser, one after another: FUZZ executions each (1000000x), FUZZ_ARCHIVES for archives (100000x), or a time
# each (30s). cpu's FuzzGraphs, which compares random graphs with the portable backend, runs for FUZZ_GRAPHS (60s). Prints one line per target,
# and the output of a target that finds something, which Go keeps as a test in testdata/fuzz. An argument is a pattern that selects targets by
# "package target".
#
#   scripts/fuzz.sh
#   FUZZ=10s scripts/fuzz.sh subword
set -euo pipefail
cd "$(dirname "$0")/.."

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
failed=0
while IFS=: read -r file line; do
	package="./$(dirname "${file#./}")" target="${line#func }" target="${target%%(*}"
	[[ "$package $target" =~ ${1:-.} ]] || continue
	count="${FUZZ:-1000000x}"
	[ "$target" != FuzzArchive ] || count="${FUZZ_ARCHIVES:-100000x}"
	[ "$target" != FuzzGraphs ] || count="${FUZZ_GRAPHS:-60s}"
	began=$SECONDS
	if ${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "$count" -fuzzminimizetime 100x -parallel 1 "$package" >"$log" 2>&1; then
		result="$(grep -o 'execs: .*' "$log" | tail -1)"
	else
		result="FAILED" failed=$((failed + 1))
	fi
	printf '%-24s %-18s %5ds  %s\n' "$package" "$target" $((SECONDS - began)) "$result"
	[ "$result" != FAILED ] || cat "$log"
done < <(grep -rH --include='*_test.go' '^func Fuzz' . | sort)
echo "$failed targets found something"
[ "$failed" = 0 ]
