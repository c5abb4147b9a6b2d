# Where things lie.  Sourced by the other scripts; `. scripts/env.sh` in a shell of yours puts the environment on PATH.

plait_root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
plait_private="$plait_root/.plait"   # all that setup, build and tests leave behind
plait_env="$plait_private/env"
plait_build="$plait_private/build"
plait_release="$plait_build/release${MPICC:+-site-mpi}"
plait_log="$plait_private/log"
plait_jobs="${PLAIT_JOBS:-$(env -u OMP_NUM_THREADS nproc)}" # nproc counts threads of OpenMP

export VIRTUAL_ENV="$plait_env"
export PIP_DISABLE_PIP_VERSION_CHECK=1
# A site's own MPI is the one that MPICC names; its mpiexec lies beside it.
plait_path="$plait_env/bin"
if [[ -n "${MPICC:-}" ]] && command -v "$MPICC" >/dev/null; then
  plait_path+=":$(dirname -- "$(command -v "$MPICC")")"
fi
export PATH="$plait_path:$PATH"

# Warnings are errors with the compilers that continuous integration uses (.github/workflows/test.yml), in every build:
# their command lines are then equal, so that ccache shares the objects.
plait_werror=OFF
if [[ -z "${CXXFLAGS:-}${CFLAGS:-}" ]]; then
  case "$("${CXX:-c++}" --version 2>/dev/null | head -n 1)" in
    g++*\ 1[2-4].* | c++*\ 1[2-4].* | *clang\ version\ 1[5-8].*) plait_werror=ON ;;
  esac
fi
export PLAIT_WERROR="$plait_werror"

say() { printf '%s: %s\n' "$(basename -- "$0" .sh)" "$*"; }

# Only one setup or build works in the tree at a time.
take_lock() {
  mkdir -p "$plait_private" "$plait_log"
  exec 9>"$plait_private/lock"
  flock -n 9 || { say "waiting for another setup or build in this tree"; flock 9; }
}
