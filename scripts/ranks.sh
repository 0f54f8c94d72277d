#!/usr/bin/env bash
# Trains a small adaptive model with dropout in one process and, with mpirun, on 1, 2 and 4 ranks, and compares the run directories byte for
# byte. Kills ranks at random moments and resumes the job with 1, 2 and 4 ranks. Needs Open MPI, or MPICH with MPI=mpich. The last line is
# `N passed, N failed`.
#
#   [MPI=mpich] scripts/ranks.sh [--kills N] [--seed N]
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case ${MPI:-openmpi} in
openmpi)
	tag=mpi launcher="mpirun --oversubscribe --bind-to none"
	needs="Open MPI (Debian: libopenmpi-dev and openmpi-bin)" ;;
mpich)
	tag=mpich launcher="mpirun.mpich -bind-to none"
	needs="MPICH (Debian: libmpich-dev and mpich)" ;;
*) echo "MPI is $MPI: it must be openmpi or mpich" >&2; exit 2 ;;
esac
command -v "${launcher%% *}" >/dev/null || { echo "${launcher%% *} is missing: install $needs" >&2; exit 2; }

GO=${GO:-go}
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 "$GO" build -o "$dir/ut" ./cmd/ut
if [ $tag = mpich ]; then # Go's build cache does not notice that the tag links another library
	export GOCACHE="$dir/cache"
fi
"$GO" build -tags $tag -o "$dir/ut-mpi" ./cmd/ut
"$GO" test -c -tags $tag -o "$dir/parallel.test" ./internal/parallel
for n in 1 2 3 4 5; do
	$launcher -n "$n" "$dir/parallel.test" -test.run TestMPI >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
	echo "$n ranks sum, gather, broadcast and agree"
done
"$GO" run ./internal/cmd/ranks --alone "$dir/ut" --mpi "$dir/ut-mpi" --launcher "$launcher" "$@"
