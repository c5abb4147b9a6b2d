#!/usr/bin/env bash
# Builds libraries and extension modules and installs the packages plait and plait-bench into .plait/env.
#
# usage: scripts/build.sh [--lean|--tests]      --lean leaves out simulation, Fortran and the interfaces of the 1990s;
#                                               --tests also builds the C and C++ tests and makes warnings errors
# PLAIT_PRODUCT=array, trace, historical or mpiio builds only this product and the products that it uses.
# The build tree under .plait/build remains, so that a second run compiles only what has changed.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

settings=(-Cbuild-dir="$plait_release")
define() { settings+=("${@/#/-Ccmake.define.}"); }
trace=ON historical=ON mpiio=ON
case "${PLAIT_PRODUCT:-all}" in
  all) ;;
  array) trace=OFF historical=OFF mpiio=OFF ;;
  trace) historical=OFF mpiio=OFF ;;
  historical) trace=OFF mpiio=OFF ;;
  mpiio) trace=OFF historical=OFF ;;
  *) say "unknown product '$PLAIT_PRODUCT'; expected array, trace, historical, mpiio or all" >&2; exit 2 ;;
esac
whole=(PLAIT_TRACE=$trace PLAIT_SIMULATION=ON PLAIT_FORTRAN=ON PLAIT_HISTORICAL=$historical PLAIT_MPIIO=$mpiio)
lean=(PLAIT_TRACE=$trace PLAIT_SIMULATION=OFF PLAIT_FORTRAN=OFF PLAIT_HISTORICAL=OFF PLAIT_MPIIO=$mpiio)
case "${1:-}" in
  "") define "${whole[@]}" ;;
  --lean) [[ -e "$plait_release/build.ninja" ]] || define "${lean[@]}" ;;
  --tests) define "${whole[@]}" PLAIT_TESTS=ON && PLAIT_WERROR=ON ;;
  *) say "unknown argument '$1'; expected --lean, --tests or nothing" >&2; exit 2 ;;
esac
define PLAIT_WERROR="$PLAIT_WERROR"

take_lock
export CMAKE_BUILD_PARALLEL_LEVEL="$plait_jobs"
begin=$SECONDS
install() {
  "$plait_env/bin/python" -m pip install -v --no-build-isolation --no-deps --no-cache-dir --force-reinstall "$@"
}
say "compiling and installing plait (log: .plait/log/build.log)"
[[ -e "$plait_release/.ninja_log" ]] || say "nothing is compiled yet: this takes about 4 minutes of processor time"
{ install "${settings[@]}" . && install ./bench; } >"$plait_log/build.log" 2>&1 || {
  grep -E -A 6 'error:|Error' "$plait_log/build.log" | head -n 80 >&2 || tail -n 20 "$plait_log/build.log" >&2
  say "failed; the whole log is .plait/log/build.log" >&2
  exit 1
}
say "done in $((SECONDS - begin)) s"
