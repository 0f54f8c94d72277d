#!/usr/bin/env bash
# Runs every shell block of README.md, in order, in a fresh clone of the repository, as a newcomer would.
#
#	scripts/readme.sh             all blocks
#	SKIP="make test" scripts/readme.sh   without lines that equal SKIP
#
# A block fails as soon as one of its commands does. Exact outputs in README are compared.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git clone -q "$here" "$dir/clone"
cd "$dir/clone"

# The reader's own file: 1,200 short reviews, whose words tell the number of stars.
awk 'BEGIN { srand(1); split("terrible awful dull slow fair decent good lovely great superb", word)
	split("film book play meal hotel song", what); split("start end price music staff view", part); print "review,stars"
	for (i = 0; i < 1200; i++) { s = 1 + int(5 * rand()); printf "\"The %s was %s, and the %s was %s.\",%d\n", what[1 + int(6*rand())],
		word[2*s - int(2*rand())], part[1 + int(6*rand())], word[2*s - int(2*rand())], s } }' >reviews.csv

awk '/^```sh$/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > sprintf("../block-%02d.sh", n) }' README.md
count=0
for block in ../block-*.sh; do
	echo "== $(basename "$block")"
	{ grep -vxF -e "${SKIP:-}" "$block" || true; } >"$block.run"
	bash -euo pipefail "$block.run" | tee "$block.out"
	count=$((count + 1))
done
[ "$count" -gt 1 ] || { echo "README.md has $count shell blocks: the script does not find them" >&2; exit 1; }
grep -qx 91028102 ../block-01.sh.out || { echo "the demo does not reverse 20182019" >&2; exit 1; }
grep -qE '^[1-5]([[:space:]]|$)' ../block-02.sh.out || { echo "the classifier does not label a review" >&2; exit 1; }
grep -qx 2015-03-05 ../block-03.sh.out || { echo "the model of pairs does not read 5 Mar 2015" >&2; exit 1; }
echo "$count passed, 0 failed"
