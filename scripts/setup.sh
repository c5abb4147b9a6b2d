#!/usr/bin/env bash
# Makes the private environment .plait/env with everything that building, running and testing need.
#
# usage: scripts/setup.sh [--use]      --use leaves out packages that only tests and their tools need
# apt-get installs system packages if this user may install them; otherwise their names are printed.  The script ends at
# once if nothing is missing.  PYTHON names another interpreter, CXX another compiler, MPICC a site's own MPI.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

python="${PYTHON:-python3}"
compiler="${CXX:-g++}"
extras=(build formats mpi plot)
level="${1:-all}"
case "$level" in
  all) extras+=(interop test traces) ;;
  --use) ;;
  *) say "unknown argument '$level'; expected --use or nothing" >&2; exit 2 ;;
esac
[[ -n "${MPICC:-}" ]] || extras+=(mpich)

python_works() { "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
venv_works() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }
has_python_headers() {
  "$python" -c 'import pathlib, sys, sysconfig; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' \
    2>/dev/null
}
compiler_works() { echo '#include <compare>' | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null && new_enough; }
new_enough() {
  local major
  major="$("$compiler" -dumpversion | cut -d. -f1)"
  if "$compiler" --version | grep -qi clang; then ((major >= 15)); else ((major >= 12)); fi
}
has_zlib() { echo '#include <zlib.h>' | "$compiler" -fsyntax-only -x c - 2>/dev/null; }
has_sodium() { echo '#include <sodium.h>' | "$compiler" -fsyntax-only -x c - 2>/dev/null; }
has_json() { echo '#include <nlohmann/json.hpp>' | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }
has_zstd() { echo '#include <zstd.h>' | "$compiler" -fsyntax-only -x c - 2>/dev/null; }
# Searches the same folders as cmake/FindHdf5Header.cmake.
has_hdf5() {
  echo '#include <hdf5.h>' |
    "$compiler" -I"${HDF5_ROOT:-/usr}/include" -I/usr/include/hdf5/serial -fsyntax-only -x c - 2>/dev/null
}
has_gtest() { echo '#include <gtest/gtest.h>' | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }

# Without a Fortran compiler the build leaves out the Fortran libraries.
fortran_works() { command -v "${FC:-gfortran}" >/dev/null; }

# Clang 16 or later with its sanitizers (cmake/ClangToolchain.cmake).
clang_works() {
  local program
  for program in $(compgen -c clang++- | grep -E '^clang\+\+-(1[6-9]|2[0-9])$'); do
    [[ ! -e "$("$program" -print-file-name=libclang_rt.asan-"$(uname -m)".a)" ]] || return 0
  done
  return 1
}

# Prints the packages of the newest Clang that apt-get offers, or of the oldest sufficient one if none is known.
newest_clang() {
  local version
  version="$({ apt-cache pkgnames clang- 2>/dev/null || true; } | sed -nE 's/^clang-(1[6-9]|2[0-9])$/\1/p' | sort -n | tail -n 1)"
  printf 'clang-%s\nlibclang-rt-%s-dev\n' "${version:-16}" "${version:-16}"
}

# ccache, which stores compiled objects for other build trees.
missing_helpers() { command -v ccache >/dev/null || echo ccache; }

# Prints the missing packages that only tests need: programs that the tests of recording run, a browser for the tests of
# pages, tools that make hosts on one machine, and the compiler of the sanitizer builds.
missing_programs() {
  local program PATH="$PATH:/usr/sbin:/sbin"
  for program in fio git sqlite3 strace chromium; do
    command -v "$program" >/dev/null || echo "$program"
  done
  command -v musl-gcc >/dev/null || echo musl-tools
  command -v h5dump >/dev/null || echo hdf5-tools
  command -v ncdump >/dev/null || echo netcdf-bin
  [[ "$(ldconfig -p)" == *'libblosc.so.1 '* ]] || echo libblosc1
  [[ "$(ldconfig -p)" == *'libjemalloc.so.2 '* ]] || echo libjemalloc2
  [[ "$(ldconfig -p)" == *'libtcmalloc_minimal.so.4 '* ]] || echo libtcmalloc-minimal4
  { command -v ip && command -v tc; } >/dev/null || echo iproute2
  command -v nsenter >/dev/null || echo util-linux
  command -v hostname >/dev/null || echo hostname
  command -v mkfs.ext4 >/dev/null || echo e2fsprogs
  clang_works || newest_clang
  echo '#include <liburing.h>' | "$compiler" -fsyntax-only -x c - 2>/dev/null || echo liburing-dev
  echo '#include <libaio.h>' | "$compiler" -fsyntax-only -x c - 2>/dev/null || echo libaio-dev
}

# Prints Debian's names of the packages that are missing at this level; `needed` leaves out optional ones.
missing_packages() {
  python_works || echo python3
  venv_works || echo python3-venv
  has_python_headers || echo python3-dev
  compiler_works || echo g++
  command -v make >/dev/null || echo make
  has_zlib || echo zlib1g-dev
  has_sodium || echo libsodium-dev
  has_json || echo nlohmann-json3-dev
  has_zstd || echo libzstd-dev
  has_hdf5 || echo libhdf5-dev
  [[ "${1:-}" == needed ]] || missing_helpers
  [[ "$level" == all ]] || return 0
  has_gtest || echo libgtest-dev
  [[ "${1:-}" == needed ]] || fortran_works || echo gfortran
  [[ "${1:-}" == needed ]] || missing_programs
}

install_missing() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  if command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; then
    say "installing by apt-get: $*"
    "${as_root[@]}" apt-get update -q >"$plait_log/apt.log" 2>&1 || true
    export DEBIAN_FRONTEND=noninteractive
    local package install=("${as_root[@]}" apt-get install -q -y --no-install-recommends)
    "${install[@]}" "$@" >>"$plait_log/apt.log" 2>&1 && return
    # A single unknown name makes apt-get install nothing; therefore try each package separately.
    for package in "$@"; do "${install[@]}" "$package" >>"$plait_log/apt.log" 2>&1 || say "apt-get has no $package"; done
  fi
}

# uv installs the packages in 8 seconds, pip in a minute.  uv does not read pip's settings; therefore pip installs the
# packages if its settings name an index, or if uv is not available or fails.
install_packages() {
  local python="$plait_env/bin/python"
  if [[ "$("$python" -m pip config list)" != *index* ]] && "$python" -m pip install -q 'uv>=0.5,<1'; then
    # Use the system's certificates, as pip does.
    UV_NATIVE_TLS=true UV_SYSTEM_CERTS=true "$plait_env/bin/uv" pip install --python "$python" -r "$plait_private/requirements.txt" && return
  fi
  "$python" -m pip install -r "$plait_private/requirements.txt"
}

# Installs Azurite, an emulator of Azure Blob Storage for tests, which runs on Node.js.
install_azurite() {
  [[ -x "$plait_private/azurite/node_modules/.bin/azurite-blob" ]] && return
  if ! command -v npm >/dev/null; then
    say "tests of Azure Blob Storage are left out: they need npm (Debian: npm)"
    return
  fi
  say "installing azurite, for tests (log: .plait/log/npm.log)"
  npm install --silent --no-audit --no-fund --prefix "$plait_private/azurite" 'azurite@>=3.33 <4' >"$plait_log/npm.log" 2>&1 ||
    say "npm cannot install azurite: tests of Azure Blob Storage are left out"
}

take_lock
stamp="$plait_private/setup.stamp"
inputs_hash="$(cat pyproject.toml scripts/setup.sh scripts/requirements.py | sha256sum) $python $compiler ${MPICC:-}"
stamped_hash="$(cat "$stamp" 2>/dev/null || true)"
if [[ -x "$plait_env/bin/python" && ("$stamped_hash" == "$inputs_hash $level" || "$stamped_hash" == "$inputs_hash all") ]]; then
  say "nothing to do"
  exit 0
fi

mapfile -t packages < <(missing_packages)
if ((${#packages[@]})); then
  install_missing "${packages[@]}" || true
  mapfile -t packages < <(missing_packages needed)
  missing_test_programs=()
  [[ "$level" != all ]] || mapfile -t missing_test_programs < <(missing_programs)
  ((${#missing_test_programs[@]} == 0)) ||
    say "tests that need these are left out (Debian's packages): ${missing_test_programs[*]}"
  [[ "$level" != all ]] || fortran_works ||
    say "no Fortran compiler: the Fortran libraries are left out (Debian: gfortran; or name one in FC)"
fi
if ((${#packages[@]})); then
  {
    say "these system packages are missing: ${packages[*]}"
    say "needed are Python 3.10 with venv and headers, a C++20 compiler (GCC 12 or Clang 15), make, zlib, libsodium, nlohmann-json, libzstd, HDF5's header and, for tests, GoogleTest."
    say "install them (Debian, Ubuntu: apt-get install ${packages[*]}), then run this again."
  } >&2
  exit 1
fi
say "$("$python" --version), $("$compiler" --version | head -n 1)"

if ! "$plait_env/bin/python" -c 'import pip' 2>/dev/null; then
  size="400 MB"
  [[ "$level" != all ]] || size="1.5 GB"
  say "creating .plait/env, which holds everything that is installed: some $size of Python packages, MPI among them"
  rm -rf "$plait_env"
  "$python" -m venv "$plait_env"
fi
say "installing Python packages (log: .plait/log/pip.log)"
"$plait_env/bin/python" scripts/requirements.py "${extras[@]}" >"$plait_private/requirements.txt"
install_packages >"$plait_log/pip.log" 2>&1 || { tail -n 20 "$plait_log/pip.log" >&2; exit 1; }
# With two MPI libraries in one environment, mpi4py might load the wrong one.
[[ -z "${MPICC:-}" ]] || "$plait_env/bin/python" -m pip uninstall -q -y mpich >>"$plait_log/pip.log" 2>&1
[[ "$level" != all ]] || install_azurite
printf '%s\n' "$inputs_hash $level" >"$stamp"
say "ready"
