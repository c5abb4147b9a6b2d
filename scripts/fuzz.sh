#!/usr/bin/env bash
# Runs the readers of traces and files, and the ends of pipes, on mutated inputs, guided by the branches they reach.
#
# usage: scripts/fuzz.sh [--fast] [SECONDS] [NAME...]     SECONDS (default 60) for each reader: a format of traces, npz,
#                                                         safetensors, netcdf, zarr, zarr-chunk, zarr-shard, encoding,
#                                                         pipe-hello, pipe-frames or pipe-answers; default: all readers
#        scripts/fuzz.sh [--fast] NAME FILE               one input only
# The readers run under AddressSanitizer and UndefinedBehaviorSanitizer.  With --fast they run several times as fast,
# but only undefined behaviour is found.  An input that fails is saved in the current folder as fuzz-failure-NAME.  The
# script needs the environment that scripts/setup.sh makes.
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
declare -A corpus=([plait_fuzz]=tests/fuzz/corpus [plait_trace_fuzz]=trace/tests/fuzz/corpus)
cmake --build "$tree" --target "${!corpus[@]}" -j "$plait_jobs" >>"$plait_log/fuzz.log"

find_program() { # NAME
  local program
  for program in "${!corpus[@]}"; do
    if "$tree/$program" list | grep -qxF -- "$1"; then
      echo "$program"
      return
    fi
  done
  say "there is no reader of '$1'" >&2
  return 2
}
if (($# == 2)) && [[ -f $2 ]]; then
  program="$(find_program "$1")"
  exec "$tree/$program" "$1" "$2"
fi
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ && ${1:-} != 1992 ]]; then
  seconds=$1
  shift
fi
if (($# == 0)); then
  mapfile -t names < <(for program in "${!corpus[@]}"; do "$tree/$program" list; done)
  set -- "${names[@]}"
fi
for name in "$@"; do
  program="$(find_program "$name")"
  "$tree/$program" --seconds "$seconds" --seed "$RANDOM" --corpus "$plait_root/${corpus[$program]}" "$name"
done
