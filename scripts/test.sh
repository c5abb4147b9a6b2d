#!/usr/bin/env bash
# Runs every check and test, or the stages and the folders of tests named, and ends with `N passed, M failed[, K skipped]`.
#
# usage: scripts/test.sh [STAGE|PATH...]      scripts/test.sh --list names the stages
#        scripts/test.sh tests/cpp/layout tests/python/file/test_streams.py      builds what changed, and tests these
# Of stages named one by one, only `build` builds; it needs what scripts/setup.sh makes.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"
mkdir -p "$plait_log"
grep -qs ' all$' "$plait_private/setup.stamp" || { say "what tests need is not installed; run: make setup" >&2; exit 2; }
export PLAIT_RELEASE_BUILD="$plait_release" PLAIT_JOBS="$plait_jobs"
exec "$plait_env/bin/python" scripts/checks/run_tests.py "$@"
