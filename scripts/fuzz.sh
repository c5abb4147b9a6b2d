#!/usr/bin/env bash
# Runs the readers of traces and of files, and ends of pipes, on changed inputs, guided by the branches that they reach.
#
# usage: scripts/fuzz.sh [--fast] [SECONDS] [NAME...]     SECONDS (60) are of each: a format of traces,
#                                                         npz, safetensors, netcdf, zarr, zarr-chunk, zarr-shard,
#                                                         encoding, pipe-hello, pipe-frames or pipe-answers; without
#                                                         one, all
#        scripts/fuzz.sh [--fast] NAME FILE               one input alone
# Under AddressSanitizer and UndefinedBehaviorSanitizer; with --fast, undefined behaviour alone is caught, some times
# faster.  An input that fails is left in the current folder as fuzz-failure-NAME.  It needs what scripts/setup.sh makes.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"

kind=address
if [[ ${1:-} == --fast ]]; then
  kind=trap
  shift
fi
tree="$plait_root/.plait/build/fuzz-$kind"
export ASAN_OPTIONS="detect_leaks=1:max_allocation_size_mb=1024"
cmake -S "$plait_root" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPLAIT_TESTS=ON -DPLAIT_MPI=OFF \
  -DPLAIT_FUZZ=ON -DPLAIT_SANITIZE="$kind" >"$plait_log/fuzz.log"
cmake --build "$tree" --target plait_fuzz -j "$plait_jobs" >>"$plait_log/fuzz.log"

if (($# == 2)) && [[ -f $2 ]]; then
  exec "$tree/plait_fuzz" "$1" "$2"
fi
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ && ${1:-} != 1992 ]]; then
  seconds=$1
  shift
fi
exec "$tree/plait_fuzz" --seconds "$seconds" --seed "$RANDOM" --corpus "$plait_root/tests/fuzz/corpus" "$@"
