#!/usr/bin/env bash
# Tests the ARM64 kernels in an emulator: against plain loops, also attention and cross entropy in blocks, with GoMLX's conformance suite and
# with the reference vectors. Without qemu's user emulation it lists the skipped tests.
set -euo pipefail
cd "$(dirname "$0")/.."
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
if [ -z "$emulator" ]; then
	echo "arm64: skipped ./cpu/internal/kernel, TestConformance/cpu:neon, TestAttentionInBlocks and TestCrossEntropy in ./cpu, TestEveryCaseAgreesInBothPrecisions in ./internal/golden: qemu-aarch64 is not installed (Debian: qemu-user-static)"
	exit 0
fi
run() { GOARCH=arm64 CGO_ENABLED=0 "${GO:-go}" test -timeout 10m -exec "$emulator" "$@"; }
run ./cpu/internal/kernel
run -run '^TestConformance$/^cpu:neon$' ./cpu
run -run '^(TestAttentionInBlocks|TestCrossEntropy)$' ./cpu # a minute of processor time; they choose their kernels themselves
run -run '^TestEveryCaseAgreesInBothPrecisions$' ./internal/golden
