#!/usr/bin/env bash
# Trains every recipe for some updates with two builds of the program and compares the losses, cross entropies and gradient norms of every
# update bit for bit. A refactoring must not change them.
#
#	scripts/compare_losses.sh OLD NEW          two binaries, ut before and after
#	UPDATES=20 ONLY='^algorithmic'             number of updates; recipes whose names match, including all tasks of a family
#	DATA_BABI=dir DATA_LINZEN=dir ...          data by the names of needs (ut list --json); recipes without their data are skipped
#
# The old build trains its own recipe: the present name, its name of version 0.2, or the cell of a table. Where it has neither, it trains
# the configuration that the new build shows. Large batches are shrunk for both.
set -uo pipefail
old=${1:?name the old binary} new=${2:?name the new binary}
updates=${UPDATES:-20} only=${ONLY:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# earlier prints the name that version 0.2 had for a recipe, if it had one.
earlier() {
	case $1 in
	own-text) echo text ;;
	own-translation) echo translation ;;
	algorithmic/*) echo "${1#*/}" ;;
	algorithmic-paper/*) echo "${1#*/}-paper" ;;
	algorithmic-paper-adaptive/*) echo "${1#*/}-paper-adaptive" ;;
	algorithmic-neural-gpu/copy) echo copy-neural-gpu ;;
	babi-10k-single/task01) echo babi ;;
	memory/* | programs/*) echo "execute-${1#*/}" ;;
	memory-adaptive/* | programs-adaptive/*) echo "execute-${1#*/}-adaptive" ;;
	programs-wide/* | programs-little-end/* | programs-large/*) family=${1%/*} && echo "execute-${1#*/}-${family#programs-}" ;;
	lambada/language) echo lambada ;;
	lambada-adaptive/language) echo lambada-adaptive ;;
	lambada/reading) echo lambada-reading ;;
	lambada-adaptive/reading) echo lambada-reading-adaptive ;;
	lambada/annotated) echo lambada-reading-annotated ;;
	translation/multi30k*) echo "${1#*/}" ;;
	translation-adaptive/multi30k) echo multi30k-adaptive ;;
	translation-tiny/multi30k) echo multi30k-tiny ;;
	translation/news) echo translate-news ;;
	translation/tatoeba) echo translate-tatoeba ;;
	esac
}

# data sets sets to the paths of a recipe's needs. It fails if one is not given.
data() {
	sets=()
	while IFS='|' read -r need field file default; do
		[ -n "$default" ] || continue # an optional need
		local variable="DATA_${need^^}"
		local path=${!variable:-}
		[ -n "$path" ] && [ -e "$path${file:+/$file}" ] || return 1
		sets+=(--set "$field=$path${file:+/$file}")
	done < <(awk -v name="\"$1\"," -F': ' '
		/^    "name"/ { in_recipe = $2 == name }
		in_recipe && /^        "/ { gsub(/[",]/, "", $2); value[$1] = $2 }
		in_recipe && /^      }/ { print value["        \"name\""] "|" value["        \"field\""] "|" value["        \"file\""] "|" value["        \"default\""] }' "$dir/list.json")
}

# figures prints the numbers to compare, one line per update.
figures() {
	sed -nE 's/.*"split": ?"training".*/&/p' "$1/metrics.jsonl" |
		sed -E 's/.*"cross_entropy": ?([^,}]*).*/\1 &/; s/^([^ ]*) .*"gradient_norm": ?([^,}]*).*"loss": ?([^,}]*).*/\1 \2 \3/'
}

passed=0 failed=0 left=0
compare() {
	local recipe=$1 sets how name
	if ! data "$recipe"; then
		left=$((left + 1))
		return
	fi
	sets+=(--set "training.steps=$updates" --set training.log_every=1 --set "training.evaluate_every=$updates" --set training.validation=64)
	"$new" show "$recipe" "${sets[@]}" >"$dir/shown.json" || return
	grep -q '"tokens": 0,' "$dir/shown.json" || sets+=(--set training.batch.tokens=512)
	grep -q '"decoded": 0' "$dir/shown.json" || sets+=(--set training.decoded=4)
	grep -q '"accumulate": 0' "$dir/shown.json" || sets+=(--set training.accumulate=2)
	if grep -q '"pretrained": ""' "$dir/shown.json"; then :; else sets+=(--set 'training.pretrained=""'); fi
	how="the new configuration"
	for name in "$recipe" "$(earlier "$recipe")"; do
		if [ -n "$name" ] && "$old" show "$name" >/dev/null 2>&1; then
			how=$name
			break
		fi
	done
	rm -rf "$dir/old" "$dir/new"
	if [ "$how" = "the new configuration" ]; then
		# Version 0.2 does not know the fields for columns and formats of own files, which are empty here, and the weights of several batches.
		"$new" show "$recipe" "${sets[@]}" | sed -E '/"[a-z_]*(column|format|delimiter|header)": "",?$/d; /"weigh_by_tokens"/d' >"$dir/shown.json"
		"$old" train --config "$dir/shown.json" --out "$dir/old" >"$dir/old.log" 2>&1
	else
		"$old" train "$how" "${sets[@]}" --out "$dir/old" >"$dir/old.log" 2>&1
	fi || { echo "$recipe: the old build fails: $(tail -1 "$dir/old.log")"; failed=$((failed + 1)); return; }
	"$new" train "$recipe" "${sets[@]}" --out "$dir/new" >"$dir/new.log" 2>&1 || { echo "$recipe: the new build fails: $(tail -1 "$dir/new.log")"; failed=$((failed + 1)); return; }
	figures "$dir/old" >"$dir/old.txt"
	figures "$dir/new" >"$dir/new.txt"
	if [ "$(wc -l <"$dir/new.txt")" -eq "$updates" ] && cmp -s "$dir/old.txt" "$dir/new.txt"; then
		echo "$recipe (old: $how): the same in $updates updates, last: $(tail -1 "$dir/new.txt")"
		passed=$((passed + 1))
	else
		echo "$recipe (old: $how): DIFFERENT: $(diff "$dir/old.txt" "$dir/new.txt" | head -3 | tr '\n' ' ')"
		failed=$((failed + 1))
	fi
}

# Creates the data of the recipes for own data.
export DATA_PAIRS=$dir/pairs.tsv DATA_TEXT=$dir/text.txt
awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++) { s = t = ""; n = 1 + int(rand() * 6); while (n--) { d = int(rand() * 10); s = s d; t = d t } print s "\t" t } }' >"$DATA_PAIRS"
tr '\t' ' ' <"$DATA_PAIRS" >"$DATA_TEXT"
"$new" list --json >"$dir/list.json" || exit 1
names=$(sed -nE 's/^    "name": "(.*)",$/\1/p' "$dir/list.json")
for recipe in $names; do
	if [ -n "$only" ]; then
		[[ $recipe =~ $only ]] || continue
	else
		case $recipe in
		*/task01 | */task03) ;;
		*/task*) continue ;; # they differ only in their data
		*-paper/language | *-paper/reading | */wmt14) continue ;; # too large for most machines
		esac
	fi
	[ "$recipe" != own-translation ] || continue # has no text; translation/multi30k is the same model
	compare "$recipe"
done
echo "$passed passed, $failed failed, $left skipped for lack of data"
[ "$failed" -eq 0 ]
