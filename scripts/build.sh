#!/usr/bin/env bash
# Builds libraries and extension modules and installs the packages plait and plait-bench into .plait/env.
#
# usage: scripts/build.sh [--checks|--tests]     --checks also builds the C++ tests and makes warnings errors;
#                                                --tests builds the C++ tests alone, where --checks has been here before
# The build tree under .plait/build stays, so a second run compiles only what changed.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

settings=(-Cbuild-dir="$plait_release" -Ccmake.define.PLAIT_TOGETHER_FOLDER="$plait_build/together")
case "${1:-}" in
  "") ;;
  --checks | --tests) settings+=(-Ccmake.define.PLAIT_TESTS=ON -Ccmake.define.PLAIT_WERROR=ON) ;;
  *) say "unknown argument '$1'; expected --checks, --tests or nothing" >&2; exit 2 ;;
esac

take_lock
export CMAKE_BUILD_PARALLEL_LEVEL="$plait_jobs"
begin=$SECONDS
install() {
  "$plait_env/bin/python" -m pip install -v --no-build-isolation --no-deps --no-cache-dir --force-reinstall "$@"
}
if [[ "${1:-}" == --tests && -e "$plait_release/build.ninja" ]] &&
  grep -q '^PLAIT_TESTS:BOOL=ON' "$plait_release/CMakeCache.txt"; then
  say "compiling the C++ tests (log: .plait/log/build.log)"
  compile() { ninja -C "$plait_release" -j "$plait_jobs" plait_tests; }
else
  say "compiling and installing plait (log: .plait/log/build.log)"
  [[ -e "$plait_release/.ninja_log" ]] || say "nothing is compiled yet: this takes about 5 minutes of processor time"
  compile() { install "${settings[@]}" . && install ./bench; }
fi
compile >"$plait_log/build.log" 2>&1 || {
  grep -E -A 6 'error:|Error' "$plait_log/build.log" | head -n 80 >&2 || tail -n 20 "$plait_log/build.log" >&2
  say "failed; the whole log is .plait/log/build.log" >&2
  exit 1
}
say "done in $((SECONDS - begin)) s"
