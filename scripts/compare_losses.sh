#!/usr/bin/env bash
# Trains named experiments for some updates with two builds of the program and compares what they learn, to the last bit: losses,
# cross entropies and gradient norms of every update. A refactoring must not change them.
#
#	scripts/compare_losses.sh OLD NEW          two binaries, ut before and after
#	UPDATES=50 BABI=tasks_1-20_v1-2.tar.gz     updates; the bAbI distribution, for the experiments that need it
set -euo pipefail
old=${1:?name the old binary} new=${2:?name the new binary}
updates=${UPDATES:-50} babi=${BABI:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# figures prints the numbers that must agree, a line an update.
figures() {
	sed -nE 's/.*"split": ?"training".*/&/p' "$1/metrics.jsonl" |
		sed -E 's/.*"cross_entropy": ?([^,}]*).*/\1 &/; s/^([^ ]*) .*"gradient_norm": ?([^,}]*).*"loss": ?([^,}]*).*/\1 \2 \3/'
}

passed=0 failed=0
compare() {
	local name=$1
	shift
	for build in old new; do
		local sets=() set
		for set in "training.steps=$updates" training.log_every=1 "training.evaluate_every=$updates" "$@"; do sets+=(--set "$set"); done
		"${!build}" train "$name" --out "$dir/$name-$build" "${sets[@]}" >"$dir/$name-$build.log" 2>&1 || {
			tail -2 "$dir/$name-$build.log"
			failed=$((failed + 1))
			return
		}
		figures "$dir/$name-$build" >"$dir/$name-$build.txt"
	done
	if [ "$(wc -l <"$dir/$name-new.txt")" -eq "$updates" ] && cmp -s "$dir/$name-old.txt" "$dir/$name-new.txt"; then
		echo "$name: the same in $updates updates, last: $(tail -1 "$dir/$name-new.txt")"
		passed=$((passed + 1))
	else
		echo "$name: DIFFERENT: $(diff "$dir/$name-old.txt" "$dir/$name-new.txt" | head -3 | tr '\n' ' ')"
		failed=$((failed + 1))
	fi
}

compare demo
compare copy training.batch.tokens=512
compare reverse-paper-adaptive training.batch.tokens=512
compare addition training.batch.tokens=512
awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++) { s = t = ""; n = 1 + int(rand() * 6); while (n--) { d = int(rand() * 10); s = s d; t = d t } print s "\t" t } }' >"$dir/pairs.tsv"
compare base "task.table.path=$dir/pairs.tsv"
[ -z "$babi" ] || compare babi "task.babi.path=$babi"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
