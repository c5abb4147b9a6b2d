#!/usr/bin/env bash
# Builds wheels that work with MPICH, with Open MPI and without MPI into .plait/dist: see scripts/wheel.py.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
take_lock
say "compiling all that is not yet compiled (log: .plait/log/wheel.log)"
export PLAIT_RELEASE_BUILD="$plait_release" PLAIT_JOBS="$plait_jobs"
exec "$plait_env/bin/python" "$plait_root/scripts/wheel.py" "$@"
