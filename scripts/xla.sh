#!/usr/bin/env bash
# Compares XLA with the backend cpu: reference vectors; losses of 100 updates; checkpoints of one backend resumed, evaluated and decoded on
# the other; kill and resume; several devices; messages about missing parts.
#
#	scripts/xla.sh [BACKEND, default xla:cpu]
#	DEVICES=4 GOLDEN=internal/golden/testdata    devices to split rows over (0: none), reference vectors ("": none)
#
# docs/accelerators.md describes how to get a plugin. Without one, the script prints a line and passes. Most of the time is compilation, which
# XLA_FLAGS=--xla_backend_optimization_level=0 reduces.
set -euo pipefail
cd "$(dirname "$0")/.."
backend=${1:-xla:cpu} devices=${DEVICES-4} golden=${GOLDEN-internal/golden/testdata}
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

CGO_ENABLED=0 "$go" build -o "$dir/ut" ./cmd/ut
if ! CGO_ENABLED=1 "$go" build -tags xla -o "$dir/ut-xla" ./cmd/ut 2>"$dir/build"; then
	echo "XLA is not tested: $(head -1 "$dir/build")"
	exit 0
fi
# The program opens the backend first, so this command reports whether it exists and writes nothing.
missing=$("$dir/ut-xla" bench gemm --backend "$backend" --repeat 1 --warmup 0 2>&1 >/dev/null) || {
	echo "XLA is not tested: ${missing#ut: }"
	exit 0
}

passed=0 failed=0
pass() { passed=$((passed + 1)) && echo "ok    $*"; }
fail() { failed=$((failed + 1)) && echo "FAIL  $*"; }
check() { # WHAT COMMAND...: passes if the command does
	local what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what"; fi
}

sets=(--set model.width=32 --set model.heads=4 --set model.transition.feedforward.filter=64 --set model.halting.frozen.max_steps=3
	--set training.batch.rows=18 --set training.validation=54 --set 'training.schedule={"inverse_square_root":{"factor":0.08,"warmup":200}}'
	--set training.log_every=1 --set training.evaluate_every=50 --set training.checkpoint_every=10 --set training.keep=20)

# train BACKEND RUN UPDATES [FLAG...]
train() {
	local program=$dir/ut on=$1 run=$2 updates=$3
	shift 3
	case $on in xla*) program=$dir/ut-xla ;; esac
	"$program" train demo --out "$dir/$run" --backend "$on" "${sets[@]}" --set "training.steps=$updates" "$@" >"$dir/$run.log" 2>&1 || {
		tail -1 "$dir/$run.log"
		return 1
	}
}

# resume BACKEND RUN COPY: resumes a copy of a run, up to 100 updates
resume() {
	local program=$dir/ut
	case $1 in xla*) program=$dir/ut-xla ;; esac
	cp -r "$dir/$2" "$dir/$3"
	"$program" train --resume "$dir/$3" --backend "$1" --set training.steps=100 >"$dir/$3.log" 2>&1 || {
		tail -1 "$dir/$3.log"
		return 1
	}
}

# losses prints step and loss of every update.
losses() { sed -nE '/"split":"training"/s/.*"loss":([^,}]*).*"step":([0-9]+).*/\2 \1/p' "$dir/$1/metrics.jsonl"; }

# agree RUN RUN DIGITS: whether both runs have the losses of 100 updates, equal to DIGITS digits
agree() {
	paste <(losses "$1") <(losses "$2") | awk -v runs="$1 $2" -v limit="1e-$3" '
		{ d = ($2 - $4) / $2; if (d < 0) d = -d; if (d > worst) worst = d; if ($1 != $3 || NF != 4) wrong = 1 }
		END { printf "      %s: worst relative difference of the loss in %d updates: %.1e\n", runs, NR, worst; exit wrong || NR != 100 || !(worst < limit) }'
}

# answers PROGRAM BACKEND RUN: prints the measurements and answers of a run's best checkpoint
answers() {
	"$dir/$1" eval "$dir/$3" --backend "$2" --teacher-forced --count 40 --mix 12 --json | grep -E '"(value|name|correct|total)"'
	printf '%s\n' 3141592 27 1234567890123 | "$dir/$1" decode "$dir/$3" --backend "$2" --max-length 8
}
same_answers() { # RUN
	answers ut cpu "$1" >"$dir/a" && answers ut-xla "$backend" "$1" >"$dir/b" && paste "$dir/a" "$dir/b" | awk -F '\t' '
		{ n = split($1, a, /[ ,]+/); m = split($2, b, /[ ,]+/); if (n != m) wrong = 1
		  for (i = 1; i <= n; i++) { d = a[i] - b[i]; if (a[i] != b[i] && !(a[i] + 0 && d * d < 1e-8 * a[i] * a[i])) wrong = 1 } }
		END { exit wrong || NR < 5 }'
}

if [ -n "$golden" ]; then
	while read -r verdict what; do
		case $verdict in ok) pass "reference vectors: $what" ;; FAIL) fail "reference vectors: $what" ;; esac
	done < <(CGO_ENABLED=1 "$go" run -tags xla ./internal/cmd/golden -backend "$backend" "$golden")
fi

check "100 updates on cpu" train cpu cpu 100 --set training.compute_halted=true
check "100 updates on $backend" train "$backend" xla 100
check "the same losses to 6 digits" agree cpu xla 6
check "halted positions are named as computed" grep -q '^halted positions are computed too' "$dir/xla.log"
check "a run of cpu measures and decodes the same on $backend" same_answers cpu
check "a run of $backend measures and decodes the same on cpu" same_answers xla

check "... and says that halted positions were computed" grep -q "halted positions were also computed" <("$dir/ut-xla" eval "$dir/xla" --backend "$backend" --teacher-forced --count 40 --mix 12)

train cpu half 50 && train "$backend" half-xla 50 || fail "50 updates on each"
check "a checkpoint of cpu is trained further on $backend" resume "$backend" half crossed
check "... with the losses of cpu to 6 digits" agree cpu crossed 6
check "a checkpoint of $backend is trained further on cpu" resume cpu half-xla crossed-back
check "... with the losses of cpu to 6 digits" agree cpu crossed-back 6

# Kills training after its first checkpoint and resumes it: metrics must equal those of an uninterrupted run byte for byte.
"$dir/ut-xla" train demo --out "$dir/killed" --backend "$backend" "${sets[@]}" --set training.steps=100 >"$dir/killed.log" 2>&1 &
victim=$!
until [ -n "$(find "$dir/killed" -name '*00000030*' 2>/dev/null)" ] || ! kill -0 "$victim" 2>/dev/null; do sleep 0.05; done
kill -9 "$victim" 2>/dev/null || fail "the run to kill has ended before"
wait "$victim" 2>/dev/null || true
check "kill -9 and resume on $backend" resume "$backend" killed killed-resumed
check "... resumed from a checkpoint" grep -q '^resuming from the checkpoint of update' "$dir/killed-resumed.log"
check "... bit for bit" cmp -s "$dir/xla/metrics.jsonl" "$dir/killed-resumed/metrics.jsonl"

if [ "$devices" -gt 1 ]; then
	check "100 updates on $devices devices" train "$backend" devices 100 --devices "$devices"
	check "... with the losses of one device to 5 digits" agree xla devices 5
	check "a checkpoint of $devices devices is evaluated on cpu" same_answers devices
fi

# refused COMMAND... -- TEXT: whether a command fails with one line that contains TEXT
refused() {
	local want=${*: -1}
	! "${@:1:$#-1}" >"$dir/out" 2>&1 && [ "$(wc -l <"$dir/out")" -eq 1 ] && grep -qF -- "$want" "$dir/out" || {
		cat "$dir/out"
		return 1
	}
}
check "without the tag: one line" refused "$dir/ut" train demo --out "$dir/no" --backend xla:cpu "go build -tags xla"
check "without the plugin: one line" refused env PJRT_PLUGIN_LIBRARY_PATH=/nowhere "$dir/ut-xla" train demo --out "$dir/no" --backend xla:cpu "pip download --no-deps xla-cpu-pjrt"
check "without the library: one line" refused "$dir/ut-xla" train demo --out "$dir/no" --backend xla:/nowhere/plugin.so "there is no library /nowhere/plugin.so"
check "what is no plugin: one line" refused "$dir/ut-xla" train demo --out "$dir/no" --backend "xla:$dir/ut" "backend \"xla:$dir/ut\""
check "devices where there is one: one line" refused "$dir/ut-xla" train demo --out "$dir/no" --devices 4 'backend "cpu" has one'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
