#!/usr/bin/env bash
# Compares the graphs that ut export --onnx writes with the program, in ONNX Runtime: random configurations of every kind of model. Needs a C compiler and a
# Python (PYTHON) with the package onnxruntime, which also has the library; without them it prints one line.
set -euo pipefail
cd "$(dirname "$0")/.."

python="${PYTHON:-python3}"
if ! command -v "${CC:-cc}" >/dev/null; then
	echo "no C compiler: ONNX is not checked"
	exit 0
fi
library="$("$python" -c 'import glob, os, onnxruntime; print(glob.glob(os.path.dirname(onnxruntime.__file__) + "/capi/libonnxruntime.so.*")[0])' 2>/dev/null || true)"
if [ -z "$library" ]; then
	echo "$python has no onnxruntime (pip install onnxruntime, PYTHON=...): ONNX is not checked"
	exit 0
fi
export ONNXRUNTIME_SHARED_LIBRARY_PATH="${ONNXRUNTIME_SHARED_LIBRARY_PATH:-$library}" PYTHON="$python" CGO_ENABLED=1
"${GO:-go}" vet -tags onnx ./internal/onnxfile ./pipeline ./cmd/ut
"${GO:-go}" test -tags onnx -count 1 -run TestONNX -v ./pipeline
