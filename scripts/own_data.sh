#!/usr/bin/env bash
# Trains ten small tasks like those that people bring (dates, sorting, spelled numbers, tags, opinions, topics, spelled addition, roots of
# words, a translation, a text) with the recipes for own data, three seeds each, measures them on examples that they have not seen, and
# prints a table. The data are generated; topics and text come from the Go installation, and are skipped if it lacks them. Finished runs
# are kept: the same command continues after an interruption. It takes about an hour on two cores.
#
#   scripts/own_data.sh                             all tasks, in runs/own-data
#   scripts/own_data.sh --only dates,roots --jobs 2 two tasks, two runs at a time
#   scripts/own_data.sh --grid DIR                  twelve settings of each task with one seed, instead of the recipes
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=1 only="" grid="" dir=""
while [ $# -gt 0 ]; do
	case "$1" in
	--jobs) jobs="${2:?--jobs needs a number}"; shift ;;
	--only) only="${2:?--only needs names of tasks}"; shift ;;
	--grid) grid="--grid" ;;
	-*) echo "own_data.sh: unknown option $1: see the first lines of the script" >&2; exit 2 ;;
	*) dir="$1" ;;
	esac
	shift
done
dir="${dir:-runs/own-data}"
CGO_ENABLED=0 ${GO:-go} build -trimpath -o bin/ut ./cmd/ut
CGO_ENABLED=0 ${GO:-go} build -trimpath -o bin/owndata ./internal/cmd/owndata
ut="$PWD/bin/ut" owndata="$PWD/bin/owndata"
"$owndata" write $grid --only "$only" "$dir"
for name in $("$owndata" names --only "$only" "$dir"); do
	(cd "$dir" && "$ut" sweep "$name${grid:+-grid}.json" --out "$name${grid:+-grid}" --jobs "$jobs")
done
"$owndata" table --only "$only" "$dir"
