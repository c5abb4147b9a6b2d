#!/usr/bin/env bash
# Runs programs of MPI-IO that do not know Plait, each with and without it, and compares the files that they write.
#
# usage: scripts/conformance.sh [--install] [PART...]      --install installs missing Debian packages, as root or by sudo
#   hdf5      h5py with parallel HDF5, on Debian's Open MPI
#   pnetcdf   PnetCDF in C and Fortran, on Debian's Open MPI
#   fortran   views.F90 with mpif.h, mpi and mpi_f08, on Debian's Open MPI and MPICH
#   mpi4py    mpi4py's own tests of files, on the MPI of .plait/env
# A program passes if it ends well both times, writes files that are equal byte by byte, and Plait reports at least the
# number of accesses that run_part() states. With small arrays Plait carries out all accesses that it can; with large
# ones, those that are faster, and the table shows the seconds of both runs.
# The exit status is 1 if a program fails, and 2 if packages are missing.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

parts=(hdf5 pnetcdf fortran mpi4py)
small=(60 70) large=(480 400)
sources=mpiio/tests/conformance
tree="$plait_build/conformance"
programs="$tree/programs"
log="$plait_log/conformance.log"
python=/usr/bin/python3 # Debian's h5py is a module of Debian's Python
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# The Debian packages that a part lacks.
missing_packages() {
  local folder=/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi
  [[ "$1" != mpi4py ]] || return 0
  command -v mpicc.openmpi >/dev/null || echo libopenmpi-dev
  command -v mpiexec.openmpi >/dev/null || echo openmpi-bin
  case "$1" in
    hdf5) [[ -d "$folder" ]] || echo python3-h5py-mpi ;;
    pnetcdf)
      [[ -e /usr/include/pnetcdf.h ]] || echo libpnetcdf-dev
      command -v gfortran >/dev/null || echo gfortran
      ;;
    fortran)
      command -v gfortran >/dev/null || echo gfortran
      command -v mpicc.mpich >/dev/null || echo libmpich-dev
      command -v mpiexec.mpich >/dev/null || echo mpich
      ;;
  esac
}

install_packages() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  say "installing by apt-get: $*"
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -q -y --no-install-recommends "$@" >"$plait_log/apt.log" 2>&1
}

# Builds the libraries for Debian's MPIs. The tree of the release is that of another MPI.
build_libraries() {
  local families="openmpi=$(command -v mpicc.openmpi)" targets=(plait_mpiio_openmpi plait_mpiio_access_openmpi)
  if command -v mpicc.mpich >/dev/null; then
    families+=";mpich=$(command -v mpicc.mpich)"
    targets+=(plait_mpiio_mpich plait_mpiio_access_mpich)
  fi
  say "building the libraries for Debian's MPIs (log: .plait/log/conformance.log)"
  {
    cmake -S . -B "$tree" -G Ninja -DPLAIT_MPI_FAMILIES="$families" -DPLAIT_TRACE=OFF -DPLAIT_HISTORICAL=OFF \
      -DPLAIT_FORTRAN=OFF -DPLAIT_PYTHON=OFF -DPLAIT_WERROR="$PLAIT_WERROR" &&
      cmake --build "$tree" --parallel "$plait_jobs" --target "${targets[@]}"
  } >>"$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }
}

run_program() { # MPI RANKS MODE COMMAND...
  local mpi="$1" ranks="$2" settings=()
  [[ "$3" == without ]] ||
    settings=(LD_PRELOAD="$tree/mpiio/libplait_mpiio_$mpi.so" PLAIT_MPIIO="explain,$3")
  timeout -k 10 300 env "${settings[@]}" "mpiexec.$mpi" -n "$ranks" "${@:4}" </dev/null
}

sum_seconds() { awk '$1 == "seconds" { sum += $3 } END { printf "%.3f", sum }' "$1"; }
count_accesses() {
  grep -oE 'Plait has carried out [0-9]+ .* and [0-9]+ reads?' "$1" | awk '{ sum += $5 + $11 } END { print sum + 0 }'
}

failed=()
add_row() { # NAME MPI RANKS MODE RESULT [ACCESSES WITHOUT WITH]
  printf '%-18s%-9s%6s  %-8s%-16s%9s%9s%9s\n' "$1" "$2" "$3" "$4" "$5" "${6:-}" "${7:-}" "${8:-}"
  [[ "$5" == passed ]] || failed+=("$1 of $2 on $3 ranks, $4: $5")
}

# Prints the result of two runs that have ended well, whose logs and files are in a folder.
print_result() { # FOLDER MODE MINIMUM
  local log_with="$1/$2.log"
  if grep -qE 'cannot be (pre)?loaded' "$log_with"; then echo "not loaded"
  elif ! grep -q 'plait mpiio: .*Plait has carried out' "$log_with"; then echo "no Plait"
  elif grep -q 'plait mpiio:' "$1/without.log"; then echo "Plait in both"
  elif (($(count_accesses "$log_with") < $3)); then echo "accesses < $3"
  elif [[ -z "$(find "$1/without" -type f -size +0 -print -quit)" ]]; then echo "no files"
  elif ! diff -rq "$1/without" "$1/$2" >>"$log" 2>&1; then echo differs
  else echo passed
  fi
}

# Runs a program without Plait and with it in a mode, and adds a line to the table.
compare() { # MINIMUM NAME MPI RANKS MODE ROWS COLUMNS COMMAND...
  local minimum="$1" name="$2" mpi="$3" ranks="$4" mode="$5" folder result="" run
  folder="$(mktemp -d)"
  for run in without "$mode"; do
    mkdir "$folder/$run"
    run_program "$mpi" "$ranks" "$run" "${@:8}" "$folder/$run" "$6" "$7" >"$folder/$run.log" 2>&1 ||
      result="failed:$run"
    printf -- '--- %s, %s, %s ranks, %s, %s x %s\n' "$name" "$mpi" "$ranks" "$run" "$6" "$7" >>"$log"
    cat "$folder/$run.log" >>"$log"
  done
  [[ -n "$result" ]] || result="$(print_result "$folder" "$mode" "$minimum")"
  add_row "$name" "$mpi" "$ranks" "$mode" "$result" "$(count_accesses "$folder/$mode.log")" \
    "$(sum_seconds "$folder/without.log")" "$(sum_seconds "$folder/$mode.log")"
  rm -rf "$folder"
}

# The first two arguments are the smallest numbers of accesses that Plait must carry out in each mode. A single rank has
# whole files as its parts, which the MPI accesses as fast, so mode on has no minimum there.
compare_all() { # ALWAYS ON NAME MPI COMMAND...
  local ranks
  for ranks in 1 2 3 4; do compare "$1" "$3" "$4" "$ranks" always "${small[@]}" "${@:5}"; done
  compare 0 "$3" "$4" 1 on "${large[@]}" "${@:5}"
  compare "$2" "$3" "$4" 4 on "${large[@]}" "${@:5}"
}

# Returns 1 if a program cannot be compiled, and adds that to the table.
compile() { # NAME MPI COMPILER OPTION...
  local name="$1" mpi="$2" own_log
  own_log="$plait_log/conformance-$name.$mpi.log"
  if "${@:3}" -o "$programs/$name.$mpi" >"$own_log" 2>&1; then return 0; fi
  cat "$own_log" >>"$log"
  add_row "$name" "$mpi" - - "not compiled"
  tail -n 10 "$own_log" >&2
  return 1
}

compile_fortran() { # NAME MPI OPTION...
  compile "$1" "$2" "mpif90.$2" -O2 -J "$programs" "${@:3}"
}

run_part() {
  local binding mpi module options
  case "$1" in
    hdf5) compare_all 20 2 hdf5 openmpi "$python" "$sources/hdf5_access.py" ;;
    pnetcdf)
      module="$(find /usr/lib /usr/include -name pnetcdf.mod -printf '%h\n' -quit || true)"
      [[ -n "$module" ]] || say "no pnetcdf.mod below /usr/lib or /usr/include; the Fortran program is not compiled" >&2
      if compile pnetcdf_c openmpi mpicc.openmpi -O2 -Wall "$sources/pnetcdf_access.c" -lpnetcdf; then
        compare_all 2 2 pnetcdf_c openmpi "$programs/pnetcdf_c.openmpi"
      fi
      if compile_fortran pnetcdf_fortran openmpi -I"$module" "$sources/pnetcdf_access.f90" -lpnetcdf; then
        compare_all 4 4 pnetcdf_fortran openmpi "$programs/pnetcdf_fortran.openmpi"
      fi
      ;;
    fortran)
      for mpi in openmpi mpich; do
        for binding in MPIF_H MPI MPI_F08; do
          options=(-cpp -DUSE_"$binding" -fallow-argument-mismatch "$sources/views.F90")
          if compile_fortran "views_$binding" "$mpi" "${options[@]}"; then
            compare_all 8 8 "views_$binding" "$mpi" "$programs/views_$binding.$mpi"
          fi
        done
      done
      ;;
    mpi4py)
      if python -m pytest -q mpiio/tests/python/mpiio/test_mpi4py_suite.py >"$plait_log/conformance-mpi4py.log" 2>&1 &&
        ! grep -q skipped "$plait_log/conformance-mpi4py.log"; then
        printf '%-43s%s\n' mpi4py passed
      else
        tail -n 20 "$plait_log/conformance-mpi4py.log"
        failed+=(mpi4py)
      fi
      ;;
  esac
}

install=false
[[ "${1:-}" != --install ]] || { install=true && shift; }
(($# == 0)) || parts=("$@")
for part in "${parts[@]}"; do
  [[ " hdf5 pnetcdf fortran mpi4py " == *" $part "* ]] ||
    { say "unknown part '$part'; expected some of: hdf5 pnetcdf fortran mpi4py" >&2; exit 2; }
done
mapfile -t packages < <(for part in "${parts[@]}"; do missing_packages "$part"; done | sort -u)
if ((${#packages[@]})) && $install; then
  install_packages "${packages[@]}" || { tail -n 20 "$plait_log/apt.log" >&2; exit 2; }
elif ((${#packages[@]})); then
  say "packages are missing: ${packages[*]}; install them: apt-get install ${packages[*]}, or: scripts/conformance.sh --install" >&2
  exit 2
fi
mkdir -p "$plait_log" "$programs"
: >"$log"
[[ "${parts[*]}" == mpi4py ]] || build_libraries
printf '%-18s%-9s%6s  %-8s%-16s%9s%9s%9s\n' program MPI ranks mode result accesses without with
for part in "${parts[@]}"; do run_part "$part"; done
((${#failed[@]} == 0)) || { say "failed: ${failed[*]} (log: .plait/log/conformance.log)" >&2; exit 1; }
