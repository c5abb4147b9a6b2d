# Defines paths and functions for the other scripts, which source it.  `. scripts/env.sh` in your own shell puts the
# private environment on PATH.

plait_root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
plait_private="$plait_root/.plait"   # all files that setup, builds and tests create
plait_env="$plait_private/env"
plait_build="$plait_private/build"
plait_release="$plait_build/release${MPICC:+-site-mpi}"
plait_log="$plait_private/log"
plait_jobs="${PLAIT_JOBS:-$(env -u OMP_NUM_THREADS nproc)}" # nproc would print OMP_NUM_THREADS instead of the cores

export VIRTUAL_ENV="$plait_env"
export PIP_DISABLE_PIP_VERSION_CHECK=1
# MPICC names a site's own MPI, whose mpiexec is in the same folder.
plait_path="$plait_env/bin"
if [[ -n "${MPICC:-}" ]] && command -v "$MPICC" >/dev/null; then
  plait_path+=":$(dirname -- "$(command -v "$MPICC")")"
fi
export PATH="$plait_path:$PATH"

# With the compilers of continuous integration (.github/workflows/test.yml), warnings are errors in every build: ccache
# shares objects only between equal command lines.
plait_werror=OFF
if [[ -z "${CXXFLAGS:-}${CFLAGS:-}" ]]; then
  case "$("${CXX:-c++}" --version 2>/dev/null | head -n 1)" in
    g++*\ 1[2-4].* | c++*\ 1[2-4].* | *clang\ version\ 1[5-8].*) plait_werror=ON ;;
  esac
fi
export PLAIT_WERROR="$plait_werror"

say() { printf '%s: %s\n' "$(basename -- "$0" .sh)" "$*"; }

# Waits until no other setup or build runs in this tree, and excludes others until this script ends.
take_lock() {
  mkdir -p "$plait_private" "$plait_log"
  exec 9>"$plait_private/lock"
  flock -n 9 || { say "waiting for another setup or build in this tree"; flock 9; }
}
