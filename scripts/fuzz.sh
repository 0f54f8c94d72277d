#!/usr/bin/env bash
# Runs every fuzz target of every parser, one after the other: FUZZ executions each (1000000x), FUZZ_ARCHIVES of archives (100000x), or a
# time each (30s). Prints a line a target and the output of one that finds something, which Go keeps as a test in testdata/fuzz. With
# arguments only the targets whose "package target" match that pattern. The graphs of the backend (cpu's FuzzGraphs) are no parser.
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
	[[ "$target" != FuzzGraphs && "$package $target" =~ ${1:-.} ]] || continue
	count="${FUZZ:-1000000x}"
	[ "$target" != FuzzArchive ] || count="${FUZZ_ARCHIVES:-100000x}"
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
