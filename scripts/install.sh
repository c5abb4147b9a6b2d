#!/usr/bin/env bash
# Compiles the libraries for C and C++ programs and installs them.
#
# usage: scripts/install.sh PREFIX      MPICC names the MPI's compiler wrapper; default: that of .plait/env
# The build tree .plait/build/install remains.  After a change of MPI, only the targets that use MPI are recompiled.
# ccache supplies the objects that scripts/build.sh has already compiled.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"

if [[ $# != 1 || -z "$1" || "$1" == -* ]]; then
  say "name the folder to install into: scripts/install.sh PREFIX, or make install PREFIX=..." >&2
  exit 2
fi
prefix="$(realpath -m -- "$1")"
cd "$plait_root"
tree="$plait_build/install"
mpi=()
if [[ -n "${MPICC:-}" ]]; then
  mpicc="$(command -v "$MPICC")" || { say "MPICC=$MPICC is not a program; name the MPI's compiler wrapper" >&2; exit 2; }
  mpi=("-DMPI_C_COMPILER=$mpicc")
fi

take_lock
log="$plait_log/install.log"
say "compiling and installing into $prefix (log: .plait/log/install.log)"
{
  # ccache hashes the name of the compiler, so that it must be the same as in scripts/build.sh.
  CC="${CC:-gcc}" CXX="${CXX:-g++}" cmake -S . -B "$tree" -G Ninja -U 'MPI_*' "${mpi[@]}" -DPLAIT_PYTHON=OFF \
    -DPLAIT_WERROR="$PLAIT_WERROR" -DCMAKE_INSTALL_PREFIX="$prefix" &&
    cmake --build "$tree" -j "$plait_jobs" &&
    cmake --install "$tree" --strip
} >"$log" 2>&1 || {
  grep -E -A 6 'error:|Error' "$log" | head -n 80 >&2 || tail -n 20 "$log" >&2
  say "failed; the whole log is .plait/log/install.log" >&2
  exit 1
}
grep -E -o 'MPI transport: .*' "$log" | tail -n 1
