#!/usr/bin/env bash
# Builds static binaries of ut for Linux, macOS and Windows on amd64 and arm64, and SHA256SUMS, into a folder (default dist).
#
#	scripts/dist.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-dist}
mkdir -p "$out"
names=()
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	os=${target%/*} arch=${target#*/}
	name="ut-$os-$arch"
	[ "$os" != windows ] || name+=.exe
	GOOS=$os GOARCH=$arch CGO_ENABLED=0 "${GO:-go}" build -buildvcs=auto -trimpath -ldflags=-s -o "$out/$name" ./cmd/ut
	names+=("$name")
	echo "$out/$name"
done
(cd "$out" && sha256sum "${names[@]}" >SHA256SUMS)
echo "$out/SHA256SUMS"
